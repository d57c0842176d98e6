package watch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// turns gives each name that has changed its turn to be looked at: never two of
// one name at once, and again after a pause when it failed.
type turns struct {
	queue workqueue.TypedRateLimitingInterface[string]
	look  func(ctx context.Context, name string) error
	log   *slog.Logger
}

func newTurns(look func(ctx context.Context, name string) error, log *slog.Logger) *turns {
	return &turns{workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()), look, log}
}

func (t *turns) add(name string) { t.queue.Add(name) }

func (t *turns) addAfter(name string, after time.Duration) { t.queue.AddAfter(name, after) }

// work takes turns until the queue is shut down. What waits then is left to the
// next leader; what is looked at is looked at to its end.
func (t *turns) work(ctx context.Context, workers int, all *sync.WaitGroup) {
	for range workers {
		all.Go(func() {
			for {
				name, stopping := t.queue.Get()
				if stopping || ctx.Err() != nil {
					return
				}
				t.turn(name)
				t.queue.Done(name)
			}
		})
	}
}

func (t *turns) turn(name string) {
	if err := t.look(context.Background(), name); err != nil {
		t.log.Warn("looked at again", "name", name, "error", err.Error())
		t.queue.AddRateLimited(name)
		return
	}
	t.queue.Forget(name)
}
