/** CEL library of named formats, which validate a text and return its mistakes. */
import { hasFormat } from "../../formats/formats.ts";
import {
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  labelValue,
  type NameRule,
  prefixOf,
  qualifiedName,
} from "../../values/names.ts";
import type { Library } from "../overload.ts";
import { type CelValue, NONE, Opaque, Optional, PlainList } from "../value.ts";

function schemaFormat(format: string, mistake: string): NameRule {
  return (text) => (hasFormat(format, text) ? [] : [mistake]);
}

const FORMATS: Readonly<Record<string, NameRule>> = {
  dns1123Label,
  dns1123Subdomain,
  dns1035Label,
  qualifiedName,
  dns1123LabelPrefix: prefixOf(dns1123Label),
  dns1123SubdomainPrefix: prefixOf(dns1123Subdomain),
  dns1035LabelPrefix: prefixOf(dns1035Label),
  labelValue,
  uri: schemaFormat("uri", "invalid URI"),
  uuid: schemaFormat("uuid", "does not match the UUID format"),
  byte: schemaFormat("byte", "invalid base64"),
  date: schemaFormat("date", "invalid date"),
  datetime: schemaFormat("datetime", "invalid datetime"),
};

function formatValue(name: string, rule: NameRule): CelValue {
  return new Opaque("kubernetes.NamedFormat", rule, name);
}

function namedFormat(name: string): CelValue {
  const rule = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  return rule === undefined ? NONE : new Optional(formatValue(name, rule));
}

export const NAMED_FORMATS: Library = [
  ["format.named(string): optional<kubernetes.NamedFormat>", ([name]) => namedFormat(name as string)],
  ...Object.entries(FORMATS).map(([name, rule]): Library[number] => [
    `format.${name}(): kubernetes.NamedFormat`,
    () => formatValue(name, rule),
  ]),
  [
    "kubernetes.NamedFormat -> validate(string): optional<list<string>>",
    ([format, text], run) => {
      run.charge((text as string).length);
      const mistakes = (format as Opaque<NameRule>).content(text as string);
      return mistakes.length === 0 ? NONE : new Optional(new PlainList(mistakes));
    },
  ],
];
