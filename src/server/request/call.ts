/** A request for a resource, resolved before its verb runs. */
import type { EndpointRules } from "../objects/endpoint-rules.ts";
import type { Resource } from "../objects/registry.ts";
import type { AcceptedRequest } from "./http.ts";
import type { ResourceRequest } from "./request-info.ts";
import type { RequestNotes } from "./request-notes.ts";
import type { User } from "./user.ts";

export interface Call<R extends Resource = Resource> {
  readonly request: AcceptedRequest;
  readonly info: ResourceRequest;
  readonly query: URLSearchParams;
  readonly resource: R;
  readonly user: User;
  readonly notes: RequestNotes;
  /** Rules of the subresource that writes a part of the object. */
  readonly endpoint?: EndpointRules;
}
