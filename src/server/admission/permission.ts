/** Authorizer questions of admission plugins. */
import type { Soon } from "../../base/loop/soon.ts";
import { whenDone } from "../../base/loop/soon.ts";
import type { Requester } from "../../resources/rules/kind-rules.ts";
import { NOTHING_ASKED } from "../access/authz/authorizer.ts";
import type { AccessAttributes, AccessDecision, Authorizer } from "../access/authz/authorizer.ts";

/** Access attributes of a question about a resource. Attributes that are not given stay empty. */
export function question(
  user: Requester,
  about: Partial<Omit<AccessAttributes, "user" | "path">>,
): AccessAttributes {
  return { ...NOTHING_ASKED, user, verb: "", ...about };
}

/** Whether the user may do `verb` for the signer, either by its full name or by `domain/*`. */
export function askSigner(
  authorizer: Authorizer,
  { user, verb, signer }: { readonly user: Requester; readonly verb: string; readonly signer: string },
): Soon<boolean> {
  const ask = (name: string): Soon<AccessDecision> =>
    authorizer.decide(
      question(user, { verb, group: "certificates.k8s.io", version: "*", resource: "signers", name }),
    );
  const [domain = ""] = signer.split("/");
  return whenDone(ask(signer), (decision) =>
    isAllowed(decision) ? true : whenDone<AccessDecision, boolean>(ask(`${domain}/*`), isAllowed),
  );
}

export function isAllowed({ outcome }: AccessDecision): boolean {
  return outcome === "allowed";
}

/** Rejects with `refusal` unless the answer is true. Returns undefined if the answer is already true. */
export function demand(answer: Soon<boolean>, refusal: () => Error): Promise<void> | undefined {
  return answer === true ? undefined : insist(answer, refusal);
}

async function insist(answer: Soon<boolean>, refusal: () => Error): Promise<void> {
  if (!(await answer)) throw refusal();
}
