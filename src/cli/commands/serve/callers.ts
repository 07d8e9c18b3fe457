import { problem } from '../../../kernel/problems.ts';

interface TrustedProxies {
  /** Whose call it is: the connection's address, unless a proxy that is trusted speaks for somebody else. */
  clientOf(connection: string | undefined, forwardedFor: string | null): string | undefined;
  /** True when a connection comes from one of them. */
  areAt(connection: string | undefined): boolean;
}

/**
 * Behind a reverse proxy every connection comes from the proxy, and X-Forwarded-For names the client. The header is
 * believed only on a connection from a trusted proxy, and read from the right: the first address that is not a trusted
 * proxy's own is the client. What stands further left anybody could have written.
 * @param trusted addresses and CIDR ranges
 * @throws Problem `usage` for one that is neither
 */
export async function trustedProxies(trusted: readonly string[]): Promise<TrustedProxies> {
  if (trusted.length === 0) return { clientOf: (connection) => connection, areAt: () => false };
  const { default: ipaddr } = await import('ipaddr.js');
  type Address = ReturnType<typeof ipaddr.process>;

  const ranges = trusted.map((text): [Address, number] => {
    try {
      if (text.includes('/')) return ipaddr.parseCIDR(text);
      const address = ipaddr.process(text);
      return [address, address.kind() === 'ipv4' ? 32 : 128];
    } catch {
      throw problem('usage', {
        message: `--trusted-proxy ${text}: that is neither an address nor a range.`,
        fix: 'Give an address such as 10.0.0.5, or a range such as 10.0.0.0/8 or fd00::/8.',
      });
    }
  });

  /** null for what is no address. A port behind it, brackets and a zone are put aside. */
  function read(text: string | undefined): Address | null {
    const plain = (text ?? '')
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
      .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
      .replace(/%.*$/, '');
    // Short forms such as 127.1 are for people, not for proxies.
    const isPlain = plain.includes(':') || /^\d+\.\d+\.\d+\.\d+$/.test(plain);
    return isPlain && ipaddr.isValid(plain) ? ipaddr.process(plain) : null;
  }

  const isTrusted = (address: Address): boolean =>
    ranges.some((range) => range[0].kind() === address.kind() && address.match(range));

  function clientOf(connection: string | undefined, forwardedFor: string | null): string | undefined {
    let nearest = read(connection);
    if (nearest === null || !isTrusted(nearest)) return connection;
    for (const hop of (forwardedFor ?? '').split(',').reverse()) {
      const address = read(hop);
      // Who wrote that is not known: the proxy that passed it on answers for it.
      if (address === null) break;
      nearest = address;
      if (!isTrusted(address)) break;
    }
    return nearest.toString();
  }
  return {
    clientOf,
    areAt(connection) {
      const address = read(connection);
      return address !== null && isTrusted(address);
    },
  };
}
