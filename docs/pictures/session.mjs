import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lineMarkup, windowOf } from './cells.mjs';
import { inFreshHome, TRAVELLER } from './sandbox.mjs';

const COLUMNS = 108;
const QUESTIONS = ['from passengers.json?', 'and book?'];

/** The still picture of the README: a search, an intent and a booking, one below the other. */
export const session = () =>
  inFreshHome(async ({ folder, open }) => {
    const terminal = open({ columns: COLUMNS, rows: 400 });
    const type = async (line) => {
      const command = await terminal.start(line);
      let answered = 0;
      const answer = setInterval(() => {
        if (answered === QUESTIONS.length || !terminal.text().includes(QUESTIONS[answered])) return;
        answered++;
        command.type('y\r');
      }, 50);
      const exitCode = await command.ended;
      clearInterval(answer);
      if (exitCode !== 0) throw new Error(`${line} ended with ${exitCode}:\n${terminal.text()}`);
      await terminal.write('\r\n');
    };
    writeFileSync(join(folder, 'passengers.json'), JSON.stringify([TRAVELLER]));
    await type('farelock search LIS JFK --depart +30d --limit 3');
    await type('farelock intent 1.2');
    await type('farelock book');
    const lines = terminal.lines().map((line, row) => lineMarkup(line, COLUMNS, row));
    const rows = lines.findLastIndex((markup) => markup !== '') + 1;
    return windowOf({
      columns: COLUMNS,
      rows,
      label: 'A search, an intent and a booking in a terminal',
      body: lines.slice(0, rows).filter((markup) => markup !== ''),
    });
  });
