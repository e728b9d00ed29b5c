/** The loop of a router: it reads its neighbours' tables and writes its own. */
import { defineController, indexing, watching } from "setpoint/runtime";
import type { CacheReader, CacheView } from "setpoint/runtime";
import { Link, Router } from "./network.ts";
import { routeTable } from "./route-table.ts";
import type { Neighbour } from "./route-table.ts";

/**
 * No router knows the map. Each knows its links and what its neighbours say, and all together find the shortest ways.
 * A changed table wakes the neighbours, so news travels one hop a pass.
 */
export const routing = defineController<Router>({
  name: "routing",
  for: Router,
  indexes: [indexing(Link, "end", ({ spec }) => [spec.a, spec.b])],
  watches: [
    watching(Link, ({ before, after }) =>
      [before, after].flatMap((link) =>
        link === undefined
          ? []
          : [link.spec.a, link.spec.b].map((name) => ({ namespace: link.metadata.namespace ?? "", name })),
      ),
    ),
    watching(Router, ({ before, after }, cache) => {
      const { name = "", namespace = "" } = (after ?? before)?.metadata ?? {};
      return linksOf(name, namespace, cache(Link)).map((link) => ({ namespace, name: otherEnd(link, name) }));
    }),
  ],
  async reconcile(router, { cache, updateStatus }) {
    const { name } = router.metadata;
    const routes = routeTable(name, neighboursOf(router, cache), router.spec.splitHorizon);
    await updateStatus(router, { routes, reachable: routes.length });
  },
});

function neighboursOf({ metadata }: Router, cache: CacheReader): readonly Neighbour[] {
  const { name, namespace = "" } = metadata;
  return linksOf(name, namespace, cache(Link)).flatMap((link) => {
    const neighbour = cache(Router).find({ namespace, name: otherEnd(link, name) });
    if (neighbour === undefined) return [];
    const routes = neighbour.status?.routes ?? [];
    return [{ name: neighbour.metadata.name, cost: link.spec.cost, routes }];
  });
}

function linksOf(router: string, namespace: string, links: CacheView<Link>): readonly Link[] {
  return links.indexed("end", router).filter(({ metadata }) => metadata.namespace === namespace);
}

function otherEnd({ spec }: Link, name: string): string {
  return spec.a === name ? spec.b : spec.a;
}
