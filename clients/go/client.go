// Package dragoman translates with a Dragoman server.
//
//	client, err := dragoman.Dial("127.0.0.1:50051", dragoman.Options{})
//	if err != nil { ... }
//	defer client.Close()
//	text, err := client.TranslateText(ctx, "Good morning.", "en", "de")
//
// A Client is a dragomanv1.TranslationServiceClient as well, so every method of the API can be called on
// it.  Errors are gRPC statuses; Violations says which fields of a request were wrong.
package dragoman

import (
	"context"
	"crypto/tls"
	_ "embed"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/health" // health checking, which the service config enables
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"dragoman.internal/go/dragomanv1"
)

//go:embed service_config.json
var serviceConfig string

// Options of a Client.  The zero value uses plain text and no token.
type Options struct {
	// TLS, if it is not nil; &tls.Config{} trusts the system's authorities.
	TLS *tls.Config
	// Token returns the bearer token of a call, if it is not nil.
	Token func(context.Context) (string, error)
	// Retry configures retries of unary calls.
	Retry Retry
	// Dial holds options that are passed on to gRPC.
	Dial []grpc.DialOption
}

// Client calls one server, or all servers of one name in turn.  It may be used by several goroutines.
type Client struct {
	dragomanv1.TranslationServiceClient
	Models dragomanv1.ModelServiceClient

	connection *grpc.ClientConn
}

// Dial creates a client for the server at HOST:PORT (or any gRPC target, such as "dns:///mt.example:50051").
// It connects with the first call.
func Dial(server string, options Options) (*Client, error) {
	security := grpc.WithInsecure() //nolint:staticcheck // insecure.NewCredentials needs grpc 1.35
	if options.TLS != nil {
		security = grpc.WithTransportCredentials(credentials.NewTLS(options.TLS))
	}
	unary, stream := authorize(options.Token)
	dial := append([]grpc.DialOption{
		security,
		grpc.WithDefaultServiceConfig(serviceConfig),
		grpc.WithDisableRetry(), // Retry retries: it sees the server's retry delay
		grpc.WithUserAgent("dragoman-go/0.1.0"),
		grpc.WithChainUnaryInterceptor(options.Retry.intercept, unary),
		grpc.WithChainStreamInterceptor(stream),
	}, options.Dial...)
	connection, err := grpc.Dial(server, dial...)
	if err != nil {
		return nil, err
	}
	return &Client{
		TranslationServiceClient: dragomanv1.NewTranslationServiceClient(connection),
		Models:                   dragomanv1.NewModelServiceClient(connection),
		connection:               connection,
	}, nil
}

// Close ends the connections; calls in flight fail.
func (c *Client) Close() error { return c.connection.Close() }

// TranslateText returns the best translation of one text.  Languages may be empty if the default model
// of the server has only one pair.
func (c *Client) TranslateText(ctx context.Context, text, source, target string) (string, error) {
	texts, err := c.TranslateTexts(ctx, []string{text}, source, target)
	if err != nil {
		return "", err
	}
	return texts[0], nil
}

// TranslateTexts returns the best translation of each text, in order.
func (c *Client) TranslateTexts(ctx context.Context, texts []string, source, target string) ([]string, error) {
	response, err := c.Translate(ctx, &dragomanv1.TranslateRequest{
		Contents: texts, SourceLanguage: source, TargetLanguage: target,
	})
	if err != nil {
		return nil, err
	}
	if len(response.GetTranslations()) != len(texts) {
		return nil, errors.New("dragoman: the server answered another number of texts")
	}
	translations := make([]string, len(texts))
	for i, translation := range response.GetTranslations() {
		translations[i] = translation.GetHypotheses()[0].GetText()
	}
	return translations, nil
}

// Violations returns the fields of a request that the server rejected, such as "contents[3]", with the
// reason.  Nil if the error is of another kind.
func Violations(err error) []*errdetails.BadRequest_FieldViolation {
	for _, detail := range status.Convert(err).Details() {
		if bad, ok := detail.(*errdetails.BadRequest); ok {
			return bad.GetFieldViolations()
		}
	}
	return nil
}

// authorize returns interceptors that send the token.  They are not gRPC's per-call credentials, which
// refuse plain text even if a proxy next to the program adds TLS.
func authorize(token func(context.Context) (string, error)) (grpc.UnaryClientInterceptor, grpc.StreamClientInterceptor) {
	with := func(ctx context.Context) (context.Context, error) {
		if token == nil {
			return ctx, nil
		}
		value, err := token(ctx)
		if err != nil || value == "" {
			return ctx, err
		}
		return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+value), nil
	}
	unary := func(ctx context.Context, method string, request, reply interface{}, connection *grpc.ClientConn,
		invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		ctx, err := with(ctx)
		if err != nil {
			return err
		}
		return invoke(ctx, method, request, reply, connection, options...)
	}
	stream := func(ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string,
		open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
		ctx, err := with(ctx)
		if err != nil {
			return nil, err
		}
		return open(ctx, description, connection, method, options...)
	}
	return unary, stream
}
