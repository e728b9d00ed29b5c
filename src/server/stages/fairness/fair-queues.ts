/**
 * The queues of one priority level. Each flow has a hand of a few queues and waits in the least loaded one. So a flow
 * that fills its hand hardly ever fills all queues of another flow. The queue that was charged least is served next.
 */

/** Charge of each request, besides the time for which it holds its seats. */
const BASE_MS = 3;
/** Number of cached hands. */
const HANDS_MAX = 1024;
/** Number of idle queues whose charge is remembered. */
const IDLE_MAX = 1024;

export interface QueueLimits {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

export interface Queued {
  readonly seats: number;
}

export interface FairQueue<W extends Queued> {
  readonly index: number;
  /** In order of arrival. */
  readonly waiting: readonly W[];
  readonly executing: number;
  readonly seatsInUse: number;
  /** Charge in seat-milliseconds; the lowest is served next. */
  readonly position: number;
}

class Queue<W extends Queued> implements FairQueue<W> {
  readonly index: number;
  readonly waiting: W[] = [];
  executing = 0;
  seatsInUse = 0;
  position = 0;
  /** Time up to which the seats in use are charged. */
  #chargedAt = 0;

  constructor(index: number) {
    this.index = index;
  }

  /** Charges seats while they are in use, so that long requests count before they end. */
  charge(now: number): void {
    this.position += this.seatsInUse * (now - this.#chargedAt);
    this.#chargedAt = now;
  }

  get load(): number {
    let seats = this.seatsInUse;
    for (const waiter of this.waiting) seats += waiter.seats;
    return seats;
  }

  get isIdle(): boolean {
    return this.waiting.length === 0 && this.executing === 0;
  }
}

/** A dispatched waiter, and the queue that is charged for it. */
export interface Dispatched<W extends Queued> {
  readonly waiter: W;
  /** Call once, when the request has ended. */
  readonly end: () => void;
}

export class FairQueues<W extends Queued> {
  limits: QueueLimits;
  readonly #now: () => number;
  /** Queues in use, and idle ones that were charged more than others. */
  readonly #queues = new Map<number, Queue<W>>();
  readonly #queueOf = new Map<W, Queue<W>>();
  readonly #hands = new Map<string, readonly number[]>();
  /** Position of the queue that was served last. */
  #position = 0;
  #lastIndex = -1;
  #waitingSeats = 0;

  /** `now` returns monotonic milliseconds. */
  constructor(limits: QueueLimits, now: () => number) {
    this.limits = limits;
    this.#now = now;
  }

  /** Applies to new waiters; present ones stay in their queues. */
  change(limits: QueueLimits): void {
    this.limits = limits;
    this.#hands.clear();
  }

  get waiting(): number {
    return this.#queueOf.size;
  }

  get waitingSeats(): number {
    return this.#waitingSeats;
  }

  /** Queues in use, by index. */
  get active(): readonly FairQueue<W>[] {
    const used = [...this.#queues.values()].filter(({ isIdle }) => !isIdle);
    return used.toSorted((a, b) => a.index - b.index);
  }

  /** False when the least loaded queue of the flow is full. */
  add(flow: string, waiter: W): boolean {
    const queue = this.#leastUsed(this.#handOf(flow));
    if (queue.waiting.length >= this.limits.queueLengthLimit) return false;
    queue.charge(this.#now());
    if (queue.isIdle) queue.position = Math.max(queue.position, this.#beginning());
    this.#queues.set(queue.index, queue);
    queue.waiting.push(waiter);
    this.#queueOf.set(waiter, queue);
    this.#waitingSeats += waiter.seats;
    return true;
  }

  /** Removes a waiter that gave up. */
  remove(waiter: W): void {
    const queue = this.#queueOf.get(waiter);
    if (queue === undefined) return;
    this.#forget(waiter);
    queue.waiting.splice(queue.waiting.indexOf(waiter), 1);
    this.#drop(queue);
  }

  /** The next waiter, if it has room. Later waiters never overtake one that needs more room. */
  take(hasRoom: (waiter: W) => boolean): Dispatched<W> | undefined {
    const queue = this.#next();
    const waiter = queue?.waiting[0];
    if (queue === undefined || waiter === undefined || !hasRoom(waiter)) return undefined;
    queue.waiting.shift();
    this.#forget(waiter);
    this.#position = Math.max(this.#position, queue.position);
    this.#lastIndex = queue.index;
    queue.executing += 1;
    queue.seatsInUse += waiter.seats;
    queue.position += waiter.seats * BASE_MS;
    return { waiter, end: () => this.#end(queue, waiter) };
  }

  #end(queue: Queue<W>, { seats }: W): void {
    queue.charge(this.#now());
    queue.executing -= 1;
    queue.seatsInUse -= seats;
    this.#drop(queue);
  }

  #forget(waiter: W): void {
    this.#queueOf.delete(waiter);
    this.#waitingSeats -= waiter.seats;
  }

  /** Forgets an idle queue without a debt. Prunes other idle queues only above `IDLE_MAX`. */
  #drop(queue: Queue<W>): void {
    if (!queue.isIdle) return;
    if (queue.position <= this.#position) this.#queues.delete(queue.index);
    if (this.#queues.size < IDLE_MAX) return;
    for (const each of this.#queues.values()) if (each.isIdle) this.#queues.delete(each.index);
  }

  /** A new queue starts at the lowest position: it has no debt, and no credit for its idle time. */
  #beginning(): number {
    return Math.min(this.#next()?.position ?? this.#position, this.#position);
  }

  #next(): Queue<W> | undefined {
    const now = this.#now();
    let best: Queue<W> | undefined;
    for (const queue of this.#queues.values()) {
      if (queue.waiting.length === 0) continue;
      queue.charge(now);
      if (best === undefined || this.#isBefore(queue, best)) best = queue;
    }
    return best;
  }

  /** Orders by charge, then by seats in use, then round-robin after the last one. */
  #isBefore(left: Queue<W>, right: Queue<W>): boolean {
    if (left.position !== right.position) return left.position < right.position;
    if (left.seatsInUse !== right.seatsInUse) return left.seatsInUse < right.seatsInUse;
    return this.#distance(left) < this.#distance(right);
  }

  #distance({ index }: Queue<W>): number {
    return index > this.#lastIndex ? index - this.#lastIndex : index - this.#lastIndex + this.limits.queues;
  }

  #leastUsed(hand: readonly number[]): Queue<W> {
    let best: Queue<W> | undefined;
    let least = Infinity;
    for (const index of hand) {
      const queue = this.#queues.get(index);
      if (queue === undefined) return new Queue<W>(index);
      const { load } = queue;
      if (load < least) [best, least] = [queue, load];
    }
    return best ?? new Queue<W>(0);
  }

  #handOf(flow: string): readonly number[] {
    const known = this.#hands.get(flow);
    if (known !== undefined) return known;
    if (this.#hands.size >= HANDS_MAX) this.#hands.clear();
    const hand = dealHand(flow, this.limits);
    this.#hands.set(flow, hand);
    return hand;
  }
}

/** Different queues for a flow, always the same for the same flow. */
export function dealHand(flow: string, { queues, handSize }: QueueLimits): readonly number[] {
  const hand: number[] = [];
  let state = hashOf(flow);
  for (let left = queues; left > queues - handSize && left > 0; left--) {
    state = mixed(state + 0x9e3779b9);
    let card = state % left;
    // `card` counts only the cards left in the deck.
    for (const taken of hand.toSorted((a, b) => a - b)) if (card >= taken) card += 1;
    hand.push(card);
  }
  return hand;
}

/** FNV-1a over the UTF-16 code units, then mixed. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mixed(hash);
}

/** Every input bit affects every output bit. */
function mixed(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return (bits ^ (bits >>> 15)) >>> 0;
}
