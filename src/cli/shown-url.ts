/**
 * An address as a screen or a log may have it: providers and databases put keys and passwords before the host, in the
 * query, and into a long part of the path. What is left out is a `…`.
 */
export function shownUrl(address: string): string {
  const [, scheme = '', before = '', host = '', path = '', query = ''] =
    /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?#]*)@)?([^/?#@]*)([^?#]*)(.*)$/is.exec(address) ?? [];
  if (scheme === '') return address;
  const short = path
    .split('/')
    .map((part) => (part.length < KEY_LENGTH ? part : '…'))
    .join('/');
  return `${scheme}${before && '…@'}${host}${short}${query && '?…'}`;
}

/** No name in a path is so long, and hardly a key is shorter. */
const KEY_LENGTH = 16;
