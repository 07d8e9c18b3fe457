/**
 * The address of a PostgreSQL database in the words that `pg` will keep: it treats `sslmode` prefer, require and
 * verify-ca like verify-full (safer than libpq), and would say so at length on standard error.
 */
export const inWordsOfPg = (url: string): string =>
  /[?&]uselibpqcompat=true(&|$)/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
