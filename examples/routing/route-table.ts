/** Rule of distance-vector routing: a router's table, from its links and the tables of its neighbours. Pure. */
import { INFINITY } from "./network.ts";

export interface Route {
  readonly to: string;
  readonly via: string;
  readonly cost: number;
}

export interface Neighbour {
  readonly name: string;
  /** Cost of the link to it. */
  readonly cost: number;
  readonly routes: readonly Route[];
}

export function routeTable(
  router: string,
  neighbours: readonly Neighbour[],
  splitHorizon: boolean,
): readonly Route[] {
  const best = new Map<string, Route>([[router, { to: router, via: router, cost: 0 }]]);
  for (const neighbour of neighbours.toSorted((left, right) => compare(left.name, right.name))) {
    for (const { to, via, cost } of neighbour.routes) {
      if (splitHorizon && via === router) continue;
      const offered = { to, via: neighbour.name, cost: neighbour.cost + cost };
      if (offered.cost < Math.min(INFINITY, best.get(to)?.cost ?? INFINITY)) best.set(to, offered);
    }
  }
  return [...best.values()].toSorted((left, right) => compare(left.to, right.to));
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
