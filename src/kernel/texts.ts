/** PostgreSQL refuses NUL, and half a surrogate pair is not a character. */
export const STORABLE = /^[^\0\p{Surrogate}]*$/u;

/** True for invisible text: spaces, controls, zero-width characters, the empty Braille cell. */
export const isBlank = (text: string): boolean => !/[^\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
