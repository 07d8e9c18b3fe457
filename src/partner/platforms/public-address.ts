import ipaddr from 'ipaddr.js';

/** Azure's own services answer here, to each of its machines alone, although the address looks public. */
const AZURE_PLATFORM = '168.63.129.16';

/**
 * Checks that an IP address (canonical text, from a resolver or a URL) belongs to the public internet. Everything
 * that is not plainly global unicast does not: loopback, private, link-local, carrier NAT, documentation, multicast, and every
 * form of IPv6 that carries an IPv4 address inside it (mapped, compatible, NAT64, 6to4, Teredo, ISATAP), since a
 * gateway on the way would open it again.
 */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%') || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || parsed.toString() === AZURE_PLATFORM) return false;
  if (!(parsed instanceof ipaddr.IPv6)) return true;
  // Only 2000::/3 is handed out.
  if (((parsed.parts[0] ?? 0) & 0xe000) !== 0x2000) return false;
  const isIsatap = ((parsed.parts[4] ?? 0) & ~0x0200) === 0 && parsed.parts[5] === 0x5efe;
  return !isIsatap;
}

/** Recognises this machine's own loopback addresses, in their plain form. */
export function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && !address.includes('%') && ipaddr.parse(address).range() === 'loopback';
}
