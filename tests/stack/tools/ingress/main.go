// A networking layer for Knative Serving where none can be pulled: one pod that forwards HTTP/1.1 by host name, for names of the
// cluster alone. It takes Ingresses of its class, spreads requests over their splits by percent, with the headers that they ask
// for, and says Ready once it does so. It has no TLS, no HTTP/2, no names for the outside and no rewriting.
//
//	ingress CLASS ADDRESS     ADDRESS is the name of its own Service
package main

import (
	"context"
	"log"
	"math/rand"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"knative.dev/networking/pkg/apis/networking"
	"knative.dev/networking/pkg/apis/networking/v1alpha1"
	"knative.dev/networking/pkg/client/clientset/versioned"
	"knative.dev/networking/pkg/client/informers/externalversions"
)

// A route is where the requests to one host name go.
type route struct {
	headers map[string]string
	splits  []v1alpha1.IngressBackendSplit
}

type table map[string]route

// Connections to pods that went are noticed only by their first bytes, so none is kept for long.
var transport = &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: 5 * time.Second}

type layer struct {
	class, address string
	client         versioned.Interface
	routes         atomic.Pointer[table]
}

// routesOf puts together what all Ingresses say. Of several paths of a host the last one, which Serving makes the general one, counts.
func routesOf(ingresses []*v1alpha1.Ingress) table {
	routes := table{}
	for _, ingress := range ingresses {
		for _, rule := range ingress.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				for _, host := range rule.Hosts {
					routes[host] = route{path.AppendHeaders, path.Splits}
				}
			}
		}
	}
	return routes
}

// choose draws one of the splits; the percentages of all of them make a hundred.
func (r route) choose() v1alpha1.IngressBackendSplit {
	left := rand.Intn(100)
	for _, split := range r.splits {
		if left -= split.Percent; left < 0 {
			return split
		}
	}
	return r.splits[len(r.splits)-1]
}

func (l *layer) mine(all []*v1alpha1.Ingress) []*v1alpha1.Ingress {
	var mine []*v1alpha1.Ingress
	for _, ingress := range all {
		if ingress.Annotations[networking.IngressClassAnnotationKey] == l.class && ingress.DeletionTimestamp == nil {
			mine = append(mine, ingress)
		}
	}
	return mine
}

// sync takes in all Ingresses, and then tells those that do not know it yet.
func (l *layer) sync(all []*v1alpha1.Ingress) error {
	ingresses := l.mine(all)
	routes := routesOf(ingresses)
	l.routes.Store(&routes)
	for _, ingress := range ingresses {
		if ingress.IsReady() && ingress.Status.ObservedGeneration == ingress.Generation {
			continue
		}
		if err := l.tell(ingress.DeepCopy()); err != nil {
			return err
		}
	}
	return nil
}

func (l *layer) tell(ingress *v1alpha1.Ingress) error {
	balancer := []v1alpha1.LoadBalancerIngressStatus{{DomainInternal: l.address}}
	ingress.Status.InitializeConditions()
	ingress.Status.MarkNetworkConfigured()
	ingress.Status.MarkLoadBalancerReady(balancer, balancer)
	ingress.Status.ObservedGeneration = ingress.Generation
	_, err := l.client.NetworkingV1alpha1().Ingresses(ingress.Namespace).UpdateStatus(context.Background(), ingress, metav1.UpdateOptions{})
	return err
}

func (l *layer) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	host := request.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	route, known := (*l.routes.Load())[host]
	if !known {
		http.Error(answer, "no Ingress has the host "+host, http.StatusNotFound)
		return
	}
	split := route.choose()
	proxy := httputil.ReverseProxy{Transport: transport, Rewrite: func(forwarded *httputil.ProxyRequest) {
		forwarded.SetXForwarded()
		forwarded.Out.URL.Scheme = "http"
		forwarded.Out.URL.Host = net.JoinHostPort(split.ServiceName+"."+split.ServiceNamespace+".svc.cluster.local", split.ServicePort.String())
		forwarded.Out.Host = request.Host
		for _, headers := range []map[string]string{route.headers, split.AppendHeaders} {
			for name, value := range headers {
				forwarded.Out.Header.Set(name, value)
			}
		}
	}}
	proxy.ServeHTTP(answer, request)
}

// run takes in the Ingresses after every change, and again after an error.
func (l *layer) run() {
	factory := externalversions.NewSharedInformerFactory(l.client, 0)
	informer := factory.Networking().V1alpha1().Ingresses()
	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { notify() },
		UpdateFunc: func(any, any) { notify() },
		DeleteFunc: func(any) { notify() },
	})
	factory.Start(context.Background().Done())
	factory.WaitForCacheSync(context.Background().Done())
	for range changed {
		all, err := informer.Lister().List(labels.Everything())
		if err == nil {
			err = l.sync(all)
		}
		if err != nil {
			log.Print(err)
			time.AfterFunc(200*time.Millisecond, notify)
		}
	}
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: ingress CLASS ADDRESS")
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		log.Fatal(err)
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	l := &layer{class: os.Args[1], address: os.Args[2], client: client}
	l.routes.Store(&table{})
	go l.run()
	log.Fatal(http.ListenAndServe(":8080", l))
}
