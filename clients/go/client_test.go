package dragoman

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"dragoman.internal/go/dragomanv1"
)

// realServer returns a client of the server at DRAGOMAN_SERVER.
func realServer(t *testing.T, token string) (*Client, context.Context) {
	address := os.Getenv("DRAGOMAN_SERVER")
	if address == "" {
		t.Skip("DRAGOMAN_SERVER names no server")
	}
	pem, err := os.ReadFile(os.Getenv("DRAGOMAN_TLS_CA"))
	if err != nil {
		t.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(pem)
	client, err := Dial(address, Options{
		TLS:   &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12},
		Token: func(context.Context) (string, error) { return token, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(func() {
		cancel()
		client.Close()
	})
	return client, ctx
}

func TestTranslates(t *testing.T) {
	client, ctx := realServer(t, os.Getenv("DRAGOMAN_TOKEN"))
	texts, err := client.TranslateTexts(ctx, []string{"Good morning.", "Hello"}, "en", "de")
	if err != nil || strings.Join(texts, "|") != "Guten Morgen!|Hallo!" {
		t.Fatal(texts, err)
	}
	models, err := client.Models.ListModels(ctx, &dragomanv1.ListModelsRequest{})
	if err != nil || models.Models[0].Name != "en-de" {
		t.Fatal(models, err)
	}
}

func TestSaysWhichFieldIsWrong(t *testing.T) {
	client, ctx := realServer(t, os.Getenv("DRAGOMAN_TOKEN"))
	size := int32(99)
	_, err := client.Translate(ctx, &dragomanv1.TranslateRequest{
		Contents: []string{"x"}, Options: &dragomanv1.DecodingOptions{BeamSize: &size},
	})
	violations := Violations(err)
	if status.Code(err) != codes.InvalidArgument || len(violations) != 1 || violations[0].Field != "options.beam_size" {
		t.Fatal(err, violations)
	}
}

func TestWantsTheRightToken(t *testing.T) {
	client, ctx := realServer(t, "wrong")
	if _, err := client.TranslateText(ctx, "x", "", ""); status.Code(err) != codes.Unauthenticated {
		t.Fatal(err)
	}
}

func TestStreams(t *testing.T) {
	client, ctx := realServer(t, os.Getenv("DRAGOMAN_TOKEN"))
	stream, err := client.TranslateStream(ctx, &dragomanv1.TranslateRequest{Contents: []string{"Good morning."}})
	if err != nil {
		t.Fatal(err)
	}
	done := ""
	for {
		event, err := stream.Recv()
		if status.Code(err) == codes.Unimplemented {
			t.Skip("this server does not stream yet")
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if translation := event.GetTranslation(); translation != nil {
			done = translation.Hypotheses[0].Text
		}
	}
	if done != "Guten Morgen!" {
		t.Fatal(done)
	}
}

// flaky refuses as many times as told, and then answers each text with itself.
type flaky struct {
	dragomanv1.UnimplementedTranslationServiceServer
	refusals []error
	calls    int
}

func (f *flaky) Translate(_ context.Context, request *dragomanv1.TranslateRequest) (*dragomanv1.TranslateResponse, error) {
	f.calls++
	if len(f.refusals) > 0 {
		err := f.refusals[0]
		f.refusals = f.refusals[1:]
		return nil, err
	}
	response := &dragomanv1.TranslateResponse{}
	for _, text := range request.Contents {
		response.Translations = append(response.Translations,
			&dragomanv1.Translation{Hypotheses: []*dragomanv1.Hypothesis{{Text: text}}})
	}
	return response, nil
}

func busy(t *testing.T, delay time.Duration) error {
	// The type of a Duration has moved between versions of genproto, but not its fields.
	info := &errdetails.RetryInfo{}
	field := reflect.ValueOf(info).Elem().FieldByName("RetryDelay")
	field.Set(reflect.New(field.Type().Elem()))
	info.RetryDelay.Seconds = int64(delay / time.Second)
	info.RetryDelay.Nanos = int32(delay % time.Second)
	refusal, err := status.New(codes.ResourceExhausted, "busy").WithDetails(info)
	if err != nil {
		t.Fatal(err)
	}
	return refusal.Err()
}

func TestRetries(t *testing.T) {
	lost, large := status.Error(codes.Unavailable, "lost"), status.Error(codes.ResourceExhausted, "too large")
	for _, test := range []struct {
		name     string
		refusals []error
		code     codes.Code
		calls    int
	}{
		{"comes back when the server says", []error{busy(t, 50*time.Millisecond), busy(t, 0)}, codes.OK, 3},
		{"gives up what would come too late", []error{busy(t, time.Hour)}, codes.ResourceExhausted, 1},
		{"does not repeat what is too large", []error{large}, codes.ResourceExhausted, 1},
		{"calls again what was lost", []error{lost}, codes.OK, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			service := &flaky{refusals: test.refusals}
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := grpc.NewServer()
			dragomanv1.RegisterTranslationServiceServer(server, service)
			go server.Serve(listener)
			defer server.Stop()
			client, err := Dial(listener.Addr().String(), Options{Retry: Retry{InitialBackoff: time.Millisecond}})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			_, err = client.TranslateText(ctx, "x", "", "")
			if status.Code(err) != test.code || service.calls != test.calls {
				t.Fatal(err, service.calls)
			}
		})
	}
}
