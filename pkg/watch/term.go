package watch

import "context"

// lead begins or ends a term. A new leader sends again what the last minutes
// imply: whoever led before may not have.
func (t *tracker) lead(leads bool) {
	t.lock.Lock()
	t.leads = leads
	t.resend = map[string]bool{}
	var names []string
	if leads {
		for _, w := range t.cache.Workflows() {
			names = append(names, w.Name)
			t.resend[w.Name] = true
		}
	}
	t.lock.Unlock()
	t.metrics.Leading(leads)
	for _, name := range names {
		t.again(name, 0)
	}
}

// tidy gives back the nodes of runs that ended while nobody led. A run that
// there is no Workflow of may not have been submitted yet.
func (t *tracker) tidy(ctx context.Context) {
	ended := func(run string) bool {
		w := t.cache.Workflow(run)
		return w != nil && !w.state().Status.FinishedAt.IsZero()
	}
	if err := t.releaser.release(ctx, t.releaser.capacity.Reservation, ended); err != nil {
		t.log.Warn("reservations of ended runs may be left", "error", err.Error())
	}
}
