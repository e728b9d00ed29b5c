/** Who says nothing of who they are. What they may do is for roles to say: by default to see whether the server is well, and which it is. */
import { unauthorized } from "../../api/api-error.ts";
import type { User } from "../user.ts";
import type { Authenticator } from "./authenticator.ts";

const ANONYMOUS: User = {
  name: "system:anonymous",
  uid: "",
  groups: ["system:unauthenticated"],
  extra: {},
};

/** Where nobody has to say who they are. */
const PUBLIC = /^\/(?:healthz|livez|readyz|version)(?:[/?]|$)/;

export const anonymous: Authenticator = {
  authenticate: ({ target }) => {
    if (!PUBLIC.test(target)) throw unauthorized();
    return ANONYMOUS;
  },
};
