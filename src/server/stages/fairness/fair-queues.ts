/**
 * The queues of one priority level. Each flow has a hand of a few of them and waits in the least used one, so that a flow
 * that fills its hand hardly ever meets all queues of another. Whose turn it is follows from what each queue has had so
 * far: a queue of which much was carried out lately comes after one of which little was.
 */

/** What each request is charged, besides the time for which it has its seats. */
const BASE_MS = 3;
/** Hands that are remembered. */
const HANDS_MAX = 1024;
/** Queues of which it is remembered what they had, though nobody waits in them. */
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
  /** In the order in which they came. */
  readonly waiting: readonly W[];
  readonly executing: number;
  readonly seatsInUse: number;
  /** Where it stands, in seat-milliseconds: the least is next. */
  readonly position: number;
}

class Queue<W extends Queued> implements FairQueue<W> {
  readonly index: number;
  readonly waiting: W[] = [];
  executing = 0;
  seatsInUse = 0;
  position = 0;
  /** Up to when what it has is charged. */
  #chargedAt = 0;

  constructor(index: number) {
    this.index = index;
  }

  /** Seats are charged while they are taken: who holds many for long is known before they are given back. */
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

/** A waiter whose turn has come, and the queue to which what it costs is charged. */
export interface Turn<W extends Queued> {
  readonly waiter: W;
  /** To be called once, when the request has ended. */
  readonly end: () => void;
}

export class FairQueues<W extends Queued> {
  limits: QueueLimits;
  readonly #now: () => number;
  /** Those that are in use, and those that had more than their share lately. */
  readonly #queues = new Map<number, Queue<W>>();
  readonly #queueOf = new Map<W, Queue<W>>();
  readonly #hands = new Map<string, readonly number[]>();
  /** The position of the queue whose turn was last. */
  #position = 0;
  #lastIndex = -1;
  #waitingSeats = 0;

  /** `now` never goes back, in milliseconds. */
  constructor(limits: QueueLimits, now: () => number) {
    this.limits = limits;
    this.#now = now;
  }

  /** From now on; who waits already stays where it is. */
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

  /** Those in use, in order. */
  get active(): readonly FairQueue<W>[] {
    const used = [...this.#queues.values()].filter(({ isIdle }) => !isIdle);
    return used.toSorted((a, b) => a.index - b.index);
  }

  /** False when the best queue of the flow is full. */
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

  /** For who gives up. */
  remove(waiter: W): void {
    const queue = this.#queueOf.get(waiter);
    if (queue === undefined) return;
    this.#forget(waiter);
    queue.waiting.splice(queue.waiting.indexOf(waiter), 1);
    this.#drop(queue);
  }

  /** Whose turn it is, if there is room; nobody overtakes who is next and needs more room than there is. */
  take(hasRoom: (waiter: W) => boolean): Turn<W> | undefined {
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

  /** Forgets what nobody has a claim on any more; looked through now and then only. */
  #drop(queue: Queue<W>): void {
    if (!queue.isIdle) return;
    if (queue.position <= this.#position) this.#queues.delete(queue.index);
    if (this.#queues.size < IDLE_MAX) return;
    for (const each of this.#queues.values()) if (each.isIdle) this.#queues.delete(each.index);
  }

  /** A queue that comes anew begins with the one that had least: it has no debt, and no credit for the time it was away. */
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

  /** The one that had least; among equals the one that has less at this moment, then the one after the last. */
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

/** Different cards of the deck, the same for the same flow. */
export function dealHand(flow: string, { queues, handSize }: QueueLimits): readonly number[] {
  const hand: number[] = [];
  let state = hashOf(flow);
  for (let left = queues; left > queues - handSize && left > 0; left--) {
    state = mixed(state + 0x9e3779b9);
    let card = state % left;
    // Counted among those that are still in the deck.
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

/** Every bit in has a say in every bit out. */
function mixed(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return (bits ^ (bits >>> 15)) >>> 0;
}
