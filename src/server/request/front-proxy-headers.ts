/**
 * Lower-case headers in which a front proxy names the user. Upstream's defaults; extension API servers learn them
 * too.
 */
export const FRONT_PROXY_HEADERS = {
  user: "x-remote-user",
  uid: "x-remote-uid",
  group: "x-remote-group",
  extraPrefix: "x-remote-extra-",
} as const;
