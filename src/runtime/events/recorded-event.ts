/** The contract of the Events that controllers record. */
import type { ApiObject } from "../../api/api-object.ts";

/**
 * How repeated Events are stored. `counted`: a repeated message raises `count`, and many similar messages become one Event; most
 * controllers use it. `series`: a repeated reason extends the series of one Event; upstream does this through `events.k8s.io`.
 */
export type EventForm = "counted" | "series";

/** An Event to be recorded about an object. */
export interface RecordedEvent {
  readonly type: "Normal" | "Warning";
  /** One word, such as `SuccessfulCreate`. */
  readonly reason: string;
  /** Text for people, up to 1,024 bytes; the rest is cut. */
  readonly message: string;
  /** The `action` of events.k8s.io; default: the reason. */
  readonly action?: string;
  /** The part of the object, such as `spec.containers{web}`. */
  readonly fieldPath?: string;
  /** The node that saw it; also the reporting instance. */
  readonly host?: string;
  /** The reporting controller; default: the controller that records it. */
  readonly reporter?: string;
  /** The second object involved; stored for `series` only. */
  readonly related?: ApiObject;
}
