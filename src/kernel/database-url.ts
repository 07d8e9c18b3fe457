const POSTGRES = /^postgres(ql)?:\/\//;

/** True for a PostgreSQL address, of one server or several. */
export const isDatabaseUrl = (url: string): boolean =>
  POSTGRES.test(url) && addressesOf(url).every((one) => URL.canParse(one));

/**
 * Splits an address of several servers, written as in libpq: `postgres://user@one:5432,two:5432/farelock`, or
 * `?host=/run/one,/run/two`. One server takes writes; the others follow it until one is promoted.
 */
export function addressesOf(url: string): string[] {
  const [, begin = '', hosts = '', path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)([^?#]*)(.*)$/s.exec(url) ?? [];
  const sockets = /([?&]host=)([^&]*)/.exec(query);
  const several = sockets ? decodeURIComponent(sockets[2] ?? '').split(',') : hosts.split(',');
  if (several.length < 2) return [url];
  return several.map((host) =>
    sockets
      ? `${begin}${hosts}${path}${query.replace(sockets[0], `${sockets[1]}${encodeURIComponent(host)}`)}`
      : `${begin}${host}${path}${query}`,
  );
}
