// What is folded up until somebody asks: the time of each stage, and the request as a program.

import {seconds, token} from './api.js';
import {$, copyText, duration, element} from './page.js';
import {snippets} from './snippets.js';
import {count, t} from './strings.js';

const STAGES = [['tokenize', '#7a6fd0'], ['queue', '#b0843a'], ['encode', '#2f8f9d'], ['decode', '#3c9a5f'], ['detokenize', '#c2607f']];

// Draws a summary of the API; `counts` are {sourceCount, targetCount} in tokens.
export function showTiming({timing, model, modelVersion = '', isa = ''}, counts) {
  if (!timing) return;
  const parts = STAGES.map(([name, colour]) => ({name, colour, time: seconds(timing[name])}));
  const all = parts.reduce((sum, {time}) => sum + time, 0) || 1;
  $('stages').replaceChildren(...parts.map(({colour, time}) => {
    const bar = element('span');
    bar.style.setProperty('--part', (time / all).toFixed(4));
    bar.style.setProperty('--colour', colour);
    return bar;
  }));
  const figure = (name, value, colour) => {
    const dot = colour ? [element('i')] : [];
    if (colour) dot[0].style.setProperty('--colour', colour);
    return element('div', {}, element('dt', {}, ...dot, name), element('dd', {}, value));
  };
  const total = seconds(timing.total);
  const figures = parts.map(({name, colour, time}) => figure(name, duration(time), colour));
  figures.push(figure(t('in the server'), duration(total)));
  if (counts?.targetCount && total) {
    figures.push(figure('tokens', `${counts.sourceCount} → ${counts.targetCount}`),
      figure(t('tokens a second'), count(Math.round(counts.targetCount / total))));
  }
  figures.push(figure(t('model'), model || ''));
  if (isa) figures.push(figure(t('arithmetic'), isa));
  $('figures').replaceChildren(...figures);
  $('figures').title = modelVersion && t('model version {0}', modelVersion);
  $('timing-section').hidden = false;
}

export function showSnippets(asked, grpcPort) {
  const texts = snippets(asked, Boolean(token.get()), grpcPort);
  const tabs = Object.keys(texts).map((name) => $(`tab-${name}`));
  const choose = (tab) => {
    for (const other of tabs) {
      other.setAttribute('aria-selected', String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
    }
    $('snippet').textContent = texts[tab.id.slice(4)];
    $('snippet').setAttribute('aria-labelledby', tab.id);
  };
  tabs.forEach((tab, index) => {
    tab.onclick = () => choose(tab);
    tab.onkeydown = (event) => {
      const to = tabs[(index + {ArrowRight: 1, ArrowLeft: tabs.length - 1}[event.key]) % tabs.length];
      if (!to) return;
      event.preventDefault();
      choose(to);
      to.focus();
    };
  });
  choose(tabs.find((tab) => tab.getAttribute('aria-selected') === 'true'));
  $('copy-snippet').onclick = () => copyText($('snippet').textContent, $('copy-snippet'));
}
