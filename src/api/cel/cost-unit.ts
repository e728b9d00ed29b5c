/** cel-go's and Kubernetes' units of cost: estimates and the counting of evaluations share them. */

/** For making one, beside its parts. */
export const LIST_COST = 10;
export const MAP_COST = 30;
export const STRUCT_COST = 40;
/** A string's traversal, for each character. */
export const TEXT_FACTOR = 0.1;
/** A regular expression, for each of its characters. */
export const PATTERN_FACTOR = 0.25;
/** Two authorization checks fit into the budget of an expression. */
export const CHECK_COST = 350_000;
/** The longest regular expression of a named format. */
export const FORMAT_PATTERN_SIZE = 128;
/** A requirement of a selector takes two characters at least, and becomes a struct with a list. */
export const REQUIREMENTS_FACTOR = 0.5;
export const REQUIREMENT_COST = 50;
