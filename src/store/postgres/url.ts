/** Rewrites `sslmode` prefer, require, verify-ca as verify-full, which `pg` uses anyway with a long warning. */
export const inWordsOfPg = (url: string): string =>
  /[?&]uselibpqcompat=true(&|$)/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
