// @ts-check
/**
 * The channel between the main thread and a store's thread: a message port and a shared count of each end's messages.
 * An end that waits without sleeping reads the count: reading the port would lock it each time and keep the other end
 * from posting.
 */
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";

/** @typedef {import("node:worker_threads").MessagePort} MessagePort */
/** @typedef {import("node:worker_threads").TransferListItem} Transferable */

/**
 * The parts of one end; passed to its thread.
 * @typedef {object} EndParts
 * @property {MessagePort} port
 * @property {Int32Array} sent messages of this end, in shared memory
 * @property {Int32Array} received messages of the other end, in shared memory
 */

/** @returns {[EndParts, EndParts]} */
export function createChannel() {
  const { port1, port2 } = new MessageChannel();
  const [one, two] = [new Int32Array(new SharedArrayBuffer(4)), new Int32Array(new SharedArrayBuffer(4))];
  return [
    { port: port1, sent: one, received: two },
    { port: port2, sent: two, received: one },
  ];
}

/**
 * @template Sent, Received
 */
export class ChannelEnd {
  #port;
  #sent;
  #received;
  #taken = 0;

  /** @param {EndParts} parts */
  constructor({ port, sent, received }) {
    this.#port = port;
    this.#sent = sent;
    this.#received = received;
  }

  /**
   * @param {Sent} message
   * @param {readonly Transferable[]} transfer
   */
  post(message, transfer = []) {
    this.#port.postMessage(message, transfer);
    Atomics.add(this.#sent, 0, 1);
  }

  /**
   * Calls `take` with each message in order, except for those that `next` has returned.
   * @param {(message: Received) => void} take
   */
  onMessage(take) {
    this.#port.on("message", (/** @type {Received} */ message) => {
      this.#count();
      take(message);
    });
  }

  /**
   * Returns the next message if it has arrived.
   * @returns {Received | undefined}
   */
  next() {
    if (Atomics.load(this.#received, 0) === this.#taken) return undefined;
    const found = /** @type {{ message: Received } | undefined} */ (receiveMessageOnPort(this.#port));
    if (found === undefined) return undefined;
    this.#count();
    return found.message;
  }

  /** Wraps at 32 bits, like the other end's count. */
  #count() {
    this.#taken = (this.#taken + 1) | 0;
  }
}
