package sink

import "sync"

// newest knows the id of the newest event of each order that waits.
type newest struct {
	lock sync.Mutex
	of   map[string]string
}

func (n *newest) note(order, id string) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.of[order] = id
}

// passed reports whether a newer event of its order waits.
func (n *newest) passed(l letter) bool {
	n.lock.Lock()
	defer n.lock.Unlock()
	id, noted := n.of[l.order]
	return noted && id != l.ID()
}

// forget ends the wait of an event.
func (n *newest) forget(l letter) {
	n.lock.Lock()
	defer n.lock.Unlock()
	if n.of[l.order] == l.ID() {
		delete(n.of, l.order)
	}
}
