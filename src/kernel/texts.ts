/** What counts as text, for the service that keeps it and the tool that sends it. */

/** NUL is what PostgreSQL refuses; half a surrogate pair is no character. */
export const STORABLE = /^[^\0\p{Surrogate}]*$/u;

/** Whether nothing of a text can be seen: spaces of any kind, controls, characters of no width, the empty Braille cell. */
export const isBlank = (text: string): boolean =>
  !/[^\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
