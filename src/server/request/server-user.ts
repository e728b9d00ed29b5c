import type { User } from "./user.ts";

/** User in whose name the server writes the objects that it maintains itself. */
export const SERVER_USER: User = {
  name: "system:apiserver",
  uid: "",
  groups: ["system:masters", "system:authenticated"],
  extra: {},
};
