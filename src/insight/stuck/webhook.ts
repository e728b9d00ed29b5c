/** An admission webhook refuses the write, or cannot be called. */
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../api/generated/types/admissionregistration-v1.ts";
import type { FactReader } from "./fact-reader.ts";
import { findFailure } from "./failure.ts";
import type { Failed } from "./failure.ts";
import type { RegisteredWebhook, StuckRule } from "./situation.ts";
import { kubectlName } from "./situation.ts";

const DENIED = /admission webhook "([^"]+)" denied the request(?:: (.*))?/s;
const UNREACHED = /failed calling webhook "([^"]+)": (.*)/s;
const CONFIGURATIONS = "validatingwebhookconfigurations,mutatingwebhookconfigurations";

export const webhookRule: StuckRule = (situation) => {
  const message = findFailure(situation)?.message ?? "";
  const { webhook, top } = situation;
  const rules = {
    command: `kubectl get ${webhook?.configuration ?? CONFIGURATIONS} -o yaml`,
    effect: "see its rules and its server",
  };
  const denied = DENIED.exec(message);
  if (denied !== null) {
    const [, name = "", why = "no reason given"] = denied;
    const edit = { command: `kubectl edit ${kubectlName(top)}`, effect: "change the refused field" };
    return { blockedBy: `webhook ${name} refuses the write: ${why}`, unblock: [edit, rules] };
  }
  const [, name, why = ""] = UNREACHED.exec(message) ?? [];
  if (name === undefined) return undefined;
  return {
    blockedBy: `webhook ${name} does not answer: ${why}`,
    unblock: [...serverRemedies(webhook), rules, ...ignoreRemedies(webhook)],
  };
};

function serverRemedies(webhook: RegisteredWebhook | undefined): ReturnType<typeof ignoreRemedies> {
  if (webhook?.service === undefined) return [];
  return [{ command: `setpoint why ${webhook.service}`, effect: "repair its server" }];
}

function ignoreRemedies(
  webhook: RegisteredWebhook | undefined,
): readonly { readonly command: string; readonly effect: string }[] {
  if (webhook === undefined) return [];
  const path = `/webhooks/${String(webhook.index)}/failurePolicy`;
  const patch = JSON.stringify([{ op: "replace", path, value: "Ignore" }]);
  return [
    {
      command: `kubectl patch ${webhook.configuration} --type=json -p='${patch}'`,
      effect: "failurePolicy: Ignore lets writes pass without it",
    },
  ];
}

type Configuration = ValidatingWebhookConfiguration | MutatingWebhookConfiguration;

/** The configuration of the webhook that a failure names. */
export async function webhookOf(reader: FactReader, failed: Failed): Promise<RegisteredWebhook | undefined> {
  const message = findFailure(failed)?.message ?? "";
  const name = (DENIED.exec(message) ?? UNREACHED.exec(message))?.[1];
  if (name === undefined) return undefined;
  for (const type of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration])
    for (const configuration of await reader.list<Configuration>(type, {})) {
      const found = registered(configuration, name);
      if (found !== undefined)
        return { configuration: `${type.kind.toLowerCase()} ${configuration.metadata.name}`, ...found };
    }
  return undefined;
}

function registered(
  { webhooks = [] }: Configuration,
  name: string,
): Omit<RegisteredWebhook, "configuration"> | undefined {
  const index = webhooks.findIndex((each) => each.name === name);
  if (index < 0) return undefined;
  const { service } = webhooks[index]?.clientConfig ?? {};
  return { index, service: service && `service/${service.name} -n ${service.namespace}` };
}
