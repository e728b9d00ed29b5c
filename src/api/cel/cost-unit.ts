/** Units of cost of cel-go and Kubernetes, shared by estimates and evaluations. */

/** Cost of making a list, map or struct, besides its parts. */
export const LIST_COST = 10;
export const MAP_COST = 30;
export const STRUCT_COST = 40;
/** Cost of traversing a string, per character. */
export const TEXT_FACTOR = 0.1;
/** Cost of a regular expression, per character of it. */
export const PATTERN_FACTOR = 0.25;
/** Cost of one authorization check: the budget of an expression pays for two. */
export const CHECK_COST = 350_000;
/** Length of the longest regular expression of a named format. */
export const FORMAT_PATTERN_SIZE = 128;
/** Requirements per character of a selector: each takes at least two characters, and becomes a struct with a list. */
export const REQUIREMENTS_FACTOR = 0.5;
export const REQUIREMENT_COST = 50;
