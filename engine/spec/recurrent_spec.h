// What a recurrent encoder-decoder needs besides the sizes in ModelSpec: d_model is the width of
// its embeddings, and encoder_layers and decoder_layers are the depths of its stacks.

#ifndef DRAGOMAN_ENGINE_SPEC_RECURRENT_SPEC_H_
#define DRAGOMAN_ENGINE_SPEC_RECURRENT_SPEC_H_

#include "engine/spec/config.h"

namespace dragoman {

struct RecurrentSpec final : NetworkDetails {
  // How the encoder's layers read a sentence.  The first two kinds have two stacks, one that starts
  // forward and one that starts backward, whose outputs are concatenated.
  enum Encoder {
    kBidirectional,     // all layers of a stack read in its direction
    kAlternating,       // the direction alternates with each layer
    kBiUnidirectional,  // one layer of each direction, and on top of both, layers that read forward
  };

  double Weights(const ModelSpec& spec) const override {
    const double w = state_width, d = spec.d_model;
    const double reading =
        6 * w * (d + w) + 6 * w * w * (2 * encoder_cells * spec.encoder_layers - 2);
    const double writing = 3 * w * (d + 2 * w) + 3 * w * w * decoder_base_cells +
                           6 * w * w * decoder_high_cells * (spec.decoder_layers - 1);
    return reading + writing + 8 * w * w + d * (d + 3 * w);  // attention and the deep output
  }

  Encoder encoder = kBidirectional;
  int state_width = 0;
  int encoder_cells = 1;       // per layer: the first reads the input, the others are transitions
  int decoder_base_cells = 2;  // of the decoder's first layer; attention follows the first cell
  int decoder_high_cells = 1;  // of each layer above
  bool skip = false;           // from a stack's second layer on, add a layer's input to its output
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SPEC_RECURRENT_SPEC_H_
