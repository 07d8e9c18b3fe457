/** Rules for text, shared by the service that keeps it and the tool that sends it. */

/** NUL is what PostgreSQL refuses; half a surrogate pair is no character. */
export const STORABLE = /^[^\0\p{Surrogate}]*$/u;

/** True where a text shows nothing: spaces of any kind, controls, zero-width characters, the empty Braille cell. */
export const isBlank = (text: string): boolean => !/[^\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
