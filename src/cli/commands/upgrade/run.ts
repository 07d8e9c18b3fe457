import { realpathSync } from 'node:fs';
import { version } from '../../../../package.json' with { type: 'json' };
import { fieldLines } from '../../../terminal/table.ts';
import type { View } from '../../../terminal/terminal.ts';
import type { Command } from '../../spec/command.ts';
import { type Installation, installationOf } from '../../upgrade/installation.ts';
import { isNewer, latestVersion, noteLook } from '../../upgrade/latest.ts';

interface Upgrade {
  readonly version: string;
  readonly latest: string | null;
  readonly is_latest: boolean | null;
  readonly installed_by: Installation['by'];
  readonly command: string;
}

/** Asks the registry for the newest version and says how to get it. Nothing is installed: that is the person's to run. */
export const upgrade: Command<object> = async ({ terminal, session, environment, clock, signal }) => {
  terminal.phase('Asking the registry');
  const latest = await latestVersion(environment, signal);
  noteLook(session.home, { looked_at: clock.now(), latest });
  const { by, command } = installationOf(realpathSync(process.argv[1] ?? ''));
  const document: Upgrade = {
    version,
    latest,
    is_latest: latest === null ? null : !isNewer(latest, version),
    installed_by: by,
    command,
  };
  terminal.result(document, view);
  return 0;
};

const view: View<Upgrade> = {
  lines: ({ version: own, latest, is_latest, command }, { paint }) => {
    if (is_latest) return [`farelock ${own} is the newest version.`];
    const news =
      latest === null
        ? 'unknown: the npm registry did not answer'
        : `${latest}, see the CHANGELOG for what changed`;
    return fieldLines(
      [
        ['Installed', own],
        ['Newest', news],
        ['Upgrade', command],
      ],
      paint.dim,
    );
  },
};
