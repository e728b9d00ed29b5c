/** An API that the cluster cannot serve: names of a custom kind are taken, or the server of an APIService is away. */
import { CustomResourceDefinition } from "../../api/generated/types/apiextensions-v1.ts";
import { APIService } from "../../api/generated/types/apiregistration-v1.ts";
import { findCondition } from "../state/conditions.ts";
import type { StuckRule } from "./situation.ts";
import { asKind } from "./situation.ts";

export const definitionRule: StuckRule = (situation) => {
  const definition = asKind(situation, CustomResourceDefinition);
  const accepted = definition === undefined ? undefined : findCondition(definition, "NamesAccepted");
  if (definition === undefined || accepted?.status !== "False") return undefined;
  const { name } = definition.metadata;
  const { group } = definition.spec;
  return {
    blockedBy: `another CustomResourceDefinition of the group has its names: ${accepted.message ?? ""}`,
    unblock: [
      { command: `kubectl get crd -o wide | grep ${group}`, effect: "find the other one" },
      { command: `kubectl delete crd ${name}`, effect: "withdraw this one" },
    ],
  };
};

export const apiServiceRule: StuckRule = (situation) => {
  const service = asKind(situation, APIService);
  const available = service === undefined ? undefined : findCondition(service, "Available");
  if (service === undefined || available === undefined || available.status === "True") return undefined;
  const { name } = service.metadata;
  const place = service.spec.service;
  const look =
    place === undefined
      ? []
      : [
          {
            command: `setpoint why service/${place.name ?? ""} -n ${place.namespace ?? ""}`,
            effect: "see why its server does not answer",
          },
        ];
  return {
    blockedBy: `the server of the API does not answer: ${available.message ?? available.reason ?? ""}`,
    unblock: [
      ...(available.reason === "ServiceNotFound" ? [] : look),
      { command: `kubectl delete apiservice ${name}`, effect: "withdraw the API, if its server is gone" },
    ],
  };
};
