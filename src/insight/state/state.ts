/** The state of an object in a few words. */
export interface ObjectState {
  readonly text: string;
  /** Observed and desired state are equal, as far as the object tells. */
  readonly isSettled: boolean;
  /** It stays so: nothing is under way. */
  readonly isFinal?: true;
  /** Since when it is so, in milliseconds since the epoch; undefined when the object does not tell. */
  readonly since: number | undefined;
}
