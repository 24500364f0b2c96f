package dragoman

import (
	"context"
	"math/rand"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Retry configures when a failed unary call is retried, within the deadline of its context: always after
// UNAVAILABLE, because the call had no effect; after RESOURCE_EXHAUSTED only if the server names a delay,
// because it may also mean a message that is too large.
type Retry struct {
	Attempts       int           // at most; 0 means 6, and 1 makes each call once
	InitialBackoff time.Duration // 0 means 200 ms; each next one is twice as long
	MaxBackoff     time.Duration // 0 means 5 s
}

func (r Retry) intercept(ctx context.Context, method string, request, reply interface{}, connection *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	for attempt := 1; ; attempt++ {
		err := invoke(ctx, method, request, reply, connection, options...)
		delay, again := r.delay(ctx, err, attempt)
		if !again {
			return err
		}
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// delay returns how long to wait after the attempt-th failure (from 1), and whether to retry at all.
func (r Retry) delay(ctx context.Context, err error, attempt int) (time.Duration, bool) {
	attempts, backoff, most := r.Attempts, r.InitialBackoff, r.MaxBackoff
	if attempts == 0 {
		attempts = 6
	}
	if backoff == 0 {
		backoff = 200 * time.Millisecond
	}
	if most == 0 {
		most = 5 * time.Second
	}
	if err == nil || attempt >= attempts {
		return 0, false
	}
	told, named := retryDelay(err)
	switch code := status.Code(err); {
	case code == codes.Unavailable:
	case code == codes.ResourceExhausted && named:
	default:
		return 0, false
	}
	for i := 1; i < attempt && backoff < most; i++ {
		backoff *= 2
	}
	if backoff > most {
		backoff = most
	}
	// Randomized, so that clients that were refused together do not retry together.
	delay := time.Duration(float64(backoff) * (0.5 + rand.Float64()/2))
	if delay < told {
		delay = told
	}
	if deadline, ok := ctx.Deadline(); ok && time.Now().Add(delay).After(deadline) {
		return 0, false
	}
	return delay, true
}

// retryDelay returns the delay of the server's google.rpc.RetryInfo, and whether there is one.
func retryDelay(err error) (time.Duration, bool) {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			delay := info.GetRetryDelay()
			return time.Duration(delay.GetSeconds())*time.Second + time.Duration(delay.GetNanos()), true
		}
	}
	return 0, false
}
