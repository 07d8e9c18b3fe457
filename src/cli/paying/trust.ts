import type { ProgramTrust } from '../../client/trusted-program.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { Profile } from '../session/profile.ts';

/**
 * The programs and keys that the person has named, in the settings or to a question that is asked once: the answer goes
 * into the profile.
 */
export function trustOf(given: {
  readonly profile: Pick<Profile, 'name' | 'isEmbedded' | 'escrowPrograms' | 'upgradeAuthorities'>;
  readonly home: string;
  readonly clock: Clock;
  readonly terminal: Terminal;
}): ProgramTrust {
  const { profile, terminal } = given;
  const accepted = new Set<string>(profile.upgradeAuthorities);
  return {
    isOwnCluster: profile.isEmbedded,
    programs: profile.escrowPrograms,
    isAccepted: (authority) => accepted.has(authority),
    accept: terminal.canAsk
      ? async (program, authority) => {
          terminal.review([
            `The service's escrow program ${program} is the shipped one.`,
            `But ${authority} can replace it at any time, and take what is in its escrows.`,
          ]);
          if (!(await terminal.ask('--yes').confirm('Do you trust this key?', false))) return false;
          accepted.add(authority);
          await remember(given, authority);
          return true;
        }
      : null,
    acceptCommand: (authority) =>
      profile.name === 'environment'
        ? `export FARELOCK_UPGRADE_AUTHORITIES=${[...accepted, authority].join(',')}`
        : `farelock config set upgrade_authorities ${[...accepted, authority].join(',')} --profile ${profile.name}`,
  };
}

async function remember(
  { profile, home, clock, terminal }: Parameters<typeof trustOf>[0],
  authority: string,
): Promise<void> {
  const { changeUserSettings } = await import('../settings/write.ts');
  await changeUserSettings(home, clock, (settings) => {
    const own = settings.profiles[profile.name] ?? {};
    const all = [...(own.upgrade_authorities?.split(',') ?? []), authority];
    return {
      ...settings,
      profiles: {
        ...settings.profiles,
        [profile.name]: { ...own, upgrade_authorities: [...new Set(all)].join(',') },
      },
    };
  });
  terminal.note(`Remembered in upgrade_authorities of profile ${profile.name}.`);
}
