import { problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import { shownUrl } from '../../kernel/shown-url.ts';
import type { Profile } from '../settings/index.ts';

/** Hosts of this machine: what is sent to them passes no network. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname);

/**
 * An address of a service as it is, if what is sent there is encrypted on the way, stays on this machine, or goes to a
 * host that the settings name for it (`http_hosts`). Keys, tokens, support codes, payments and passengers are sent.
 * @throws Problem `address_unencrypted`
 */
export function encrypted(address: string, setting: 'flights_url' | 'partner_url', profile: Profile): string {
  const { protocol, hostname, host } = new URL(address);
  if (protocol === 'https:' || isLoopback(hostname) || profile.httpHosts.includes(host)) return address;
  const { name } = profile;
  const isFromEnvironment = name === 'local' || name === 'environment';
  throw problem('address_unencrypted', {
    message: `${setting} of profile ${name} is ${shownUrl(address)}: keys, support codes and passengers would be sent unencrypted.`,
    next: isFromEnvironment
      ? []
      : [
          farelock`config set ${setting} ${`https://${hostname}`} --profile ${name}`,
          farelock`config set http_hosts ${host} --profile ${name}`,
        ],
  });
}
