/** An id or an argument as a shell takes it. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** The words of a command line, as a shell reads them. */
export const wordsOf = (line: string): string[] =>
  (line.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? []).map((word) =>
    word.replace(
      /'([^']*)'|\\(.)/g,
      (_match, text: string | undefined, letter: string | undefined) => text ?? letter ?? '',
    ),
  );
