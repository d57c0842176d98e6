package sink

import "sync"

// newest knows the newest event of each order of which some wait.
type newest struct {
	lock sync.Mutex
	of   map[string]last
}

// last is the id of the newest event of an order, and how many wait.
type last struct {
	id    string
	waits int
}

// note begins the wait of an event, which is the newest now.
func (n *newest) note(order, id string) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.of[order] = last{id, n.of[order].waits + 1}
}

// outdate tells those that wait of a newer event, which does not wait itself.
func (n *newest) outdate(order, id string) {
	n.lock.Lock()
	defer n.lock.Unlock()
	if is, some := n.of[order]; some {
		n.of[order] = last{id, is.waits}
	}
}

// passed reports whether there is a newer event of its order.
func (n *newest) passed(l letter) bool {
	n.lock.Lock()
	defer n.lock.Unlock()
	is, noted := n.of[l.order]
	return noted && is.id != l.ID()
}

// forget ends the wait of an event.
func (n *newest) forget(l letter) {
	n.lock.Lock()
	defer n.lock.Unlock()
	is, noted := n.of[l.order]
	switch {
	case !noted:
	case is.waits > 1:
		n.of[l.order] = last{is.id, is.waits - 1}
	default:
		delete(n.of, l.order)
	}
}

// drop forgets an order whose newest event found no room: those that wait are
// the latest that there is, and all are sent.
func (n *newest) drop(order string) {
	n.lock.Lock()
	defer n.lock.Unlock()
	delete(n.of, order)
}
