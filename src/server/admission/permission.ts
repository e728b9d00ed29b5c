/** Authorizer questions of admission plugins. */
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
export async function askSigner(
  authorizer: Authorizer,
  { user, verb, signer }: { readonly user: Requester; readonly verb: string; readonly signer: string },
): Promise<boolean> {
  const ask = async (name: string): Promise<boolean> => {
    const about = { verb, group: "certificates.k8s.io", version: "*", resource: "signers", name };
    return isAllowed(await authorizer.decide(question(user, about)));
  };
  const [domain = ""] = signer.split("/");
  return (await ask(signer)) || (await ask(`${domain}/*`));
}

export function isAllowed({ outcome }: AccessDecision): boolean {
  return outcome === "allowed";
}

/** Rejects with `refusal` unless the answer is true. */
export async function demand(answer: Promise<boolean>, refusal: () => Error): Promise<void> {
  if (!(await answer)) throw refusal();
}
