/** The owner of a queued request: a verified user, or a connection of an unverified client. */
export interface QueueOwner {
  /** Undefined while the client is not verified. */
  readonly user: string | undefined;
  /** Address and connection, between which the requests of unverified clients alternate. */
  readonly path: readonly string[];
}
