import {
  createPrompt,
  isBackspaceKey,
  isEnterKey,
  makeTheme,
  useKeypress,
  usePrefix,
  useState,
} from '@inquirer/core';
import type { StepAnswer, StepText } from './streams.ts';

const KEYS = 'Enter answer · Esc back · Ctrl-C leave';

/** A line to type. Its keys stand under it, and in their place what is wrong with the answer. */
export const stepText = createPrompt<StepAnswer<string>, StepText>((question, done) => {
  const { message, mayBeEmpty, check } = question;
  const theme = makeTheme({});
  const prefix = usePrefix({ theme });
  const [value, setValue] = useState('');
  const [preset, setPreset] = useState(question.preset ?? '');
  const [wrong, setWrong] = useState<string | null>(null);
  const [isChecking, setChecking] = useState(false);
  const judge = async (text: string): Promise<string | null> => {
    if (text === '') return mayBeEmpty ? null : 'Type an answer, or press Esc to go back.';
    return check(text);
  };
  useKeypress(async (key, line) => {
    if (isChecking) return;
    if (key.name === 'escape') done({ kind: 'back' });
    else if (isEnterKey(key)) {
      const answer = (value || preset).trim();
      setChecking(true);
      const said = await judge(answer);
      if (said === null) return done({ kind: 'answer', value: answer });
      // Enter has emptied the line: what was typed is corrected, not typed once more.
      line.write(value);
      setWrong(said);
      setChecking(false);
    } else if (isBackspaceKey(key) && value === '') setPreset('');
    else {
      setValue(line.line);
      setWrong(null);
    }
  });
  const shown = preset !== '' && value === '' ? `${theme.style.defaultAnswer(preset)} ` : '';
  return [
    `${prefix} ${theme.style.message(message, 'idle')} ${shown}${value}`,
    wrong === null ? theme.style.help(KEYS) : theme.style.error(wrong),
  ];
});
