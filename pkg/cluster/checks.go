package cluster

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ready asks the API server whether it serves.
func (c *Cluster) Ready(ctx context.Context) error {
	return faultOf(c.kube.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(), "its readiness")
}

// ReviewToken asks the API server whose token this is.
func (c *Cluster) ReviewToken(ctx context.Context, token string, audiences []string) (authenticationv1.TokenReviewStatus, error) {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences}}
	reviewed, err := c.kube.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.TokenReviewStatus{}, faultOf(err, "the review of a token")
	}
	return reviewed.Status, nil
}

// Node gives a Kubernetes node.
func (c *Cluster) Node(ctx context.Context, name string) (*corev1.Node, error) {
	node, err := c.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	return node, faultOf(err, "node "+name)
}
