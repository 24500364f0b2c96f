// Compiled, not run: correct code must type-check, and wrong code must not.

import {Client, DragomanError, type Hypothesis} from '..';

async function use(): Promise<void> {
  const client = new Client('127.0.0.1:50051', {tls: {ca: 'ca.pem'}, token: async () => 'token'});
  const texts: string[] = await client.translateTexts(['a', 'b'], {options: {beamSize: 4}});
  const best: Hypothesis = (await client.translate(texts)).translations[0].hypotheses[0];
  const score: number = best.score;
  for await (const event of client.translateStream('a', {signal: AbortSignal.timeout(1000)})) {
    const text: string = event.stableText ?? event.translation?.hypotheses[0].text ?? '';
  }
  for await (const answer of client.translateBulk(['a', {id: 'x', contents: 'b'}])) {
    if (answer.error) throw answer.error satisfies DragomanError;
    answer.response.translations;
  }
  // @ts-expect-error: no such option
  await client.translate('a', {options: {beam: 4}});
  // @ts-expect-error: no such value
  await client.translate('a', {priority: 'HIGH'});
  // @ts-expect-error: a number is not a text
  await client.translateText(1);
}
