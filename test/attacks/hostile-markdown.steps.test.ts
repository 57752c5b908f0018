// Hostile Markdown the whole way that an answer takes: cut, read and rendered for every platform. The work grows with its
// length and not faster, and what comes out is text: no tag, attribute or address that it did not have by right.
import { describe, expect, it } from 'vitest'
import {
  CHANNEL_PLATFORM,
  type MarkdownBlock,
  type MarkdownInline,
  type MarkdownRenderer,
} from '../../src/contract/index.ts'
import { plainText, readMarkdown, splitText, writeMarkdown } from '../../src/kit/markdown/index.ts'
import { PLATFORMS } from '../../src/modules/registry.ts'
import { createIMessage } from '../../src/platforms/imessage/index.ts'
import { telegramMarkdown } from '../../src/platforms/telegram/markdown.ts'
import { TAKERS } from '../../src/platforms/webhook/out-formats.ts'
import { readTelegramHtml } from '../../src/testing/emulate.ts'
import { growthOf, LINEAR } from '../../src/testing/suites/count-steps.ts'
import { HOSTILE_TEXTS } from '../../src/testing/suites/hostile-markdown.ts'
import { describeRenderer } from '../../src/testing/suites/renderer-suite.ts'
import { testPlatformDeps } from '../../src/testing/test-deps.ts'
import { SCOPE } from '../scenarios/deal.ts'

const token = 'env:TOKEN'
const post = { url: 'https://e.com/', token }
const box = { host: 'e.com', password: token }
/** With what an adapter of each is made; where the options choose the form, one of each form. */
const OPTIONS: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  web: [{}],
  webhook: Object.keys(TAKERS).map((format) => ({ secret: token, out: { ...post, format } })),
  telegram: [{ token }],
  slack: [{ bot_token: token, app_token: token, mode: 'socket' }],
  discord: [{ token }],
  email: [{ address: 'a@e.com', imap: box, smtp: box }],
  chorus: [{}],
  whatsapp: [{ phone_number_id: '1', access_token: token, app_secret: token, verify_token: token }],
  imessage: [{}],
  [CHANNEL_PLATFORM]: [{ server: 's', agent: 'a', bindings: [] }],
}
async function rendererOf(platform: string, options: Readonly<Record<string, unknown>>) {
  const deps = testPlatformDeps({ options, secrets: { [token]: 'x' } })
  // Its module makes one on a Mac alone.
  if (platform === 'imessage') return createIMessage(deps, { system: 'darwin' }).abilities.markdown
  const module = await PLATFORMS[platform]?.()
  if (!module) throw new Error(`${platform} is not built`)
  return (await module.create(deps)).abilities.markdown
}
/** What the adapters themselves declare, each once: a hook may have the one of a platform that stands below it. */
const DECLARED = new Map<MarkdownRenderer, string>()
for (const platform of Object.keys(PLATFORMS))
  for (const options of OPTIONS[platform] ?? []) {
    const markdown = await rendererOf(platform, options)
    if (markdown !== undefined && markdown !== 'written') DECLARED.set(markdown, platform)
  }
const RENDERERS = [...DECLARED].map(([renderer, platform]) => [platform, renderer] as const)
/** All that a mail of ours is made of: nothing that acts, nothing that is fetched. */
const MAIL_TAGS =
  /<\/?(?:p|h[1-6]|pre|code|blockquote|ol|ul|li|table|thead|tbody|tr|th|td|hr|br|strong|em|s|a)(?: href="(?:https?|mailto):[^"<>]*"| start="\d+")?>/g
/** Outside of code, and of what is escaped, nothing but an address stands in brackets: no mention, time or emoji. */
const isDiscords = (text: string): boolean =>
  !/<(?!https?:)/.test(text.replace(/```[\s\S]*?```|\\[\s\S]|`[^`]*`/g, ''))
/** Whether it is markup that the platform takes: HTML that holds, no bracket of Slack's but around an address, whole fences. */
const TAKES: readonly (readonly [RegExp, (text: string) => boolean])[] = [
  [/telegram/, (text) => !('error' in readTelegramHtml(text))],
  [/email/, (text) => !/[<>]/.test(text.replace(MAIL_TAGS, ''))],
  [/discord/, isDiscords],
  [/whatsapp/, (text) => (text.match(/```/g)?.length ?? 0) % 2 === 0],
  [/slack/, (text) => !/<(?!https?:|mailto:)/.test(text)],
  // They read no markup: every text is theirs.
  [/webhook|imessage/, () => true],
]
const isTaken = (platform: string, text: string): boolean => {
  const rule = TAKES.find(([pattern]) => pattern.test(platform))
  if (!rule) throw new Error(`${platform}: say what it takes`)
  return rule[1](text)
}
/** Small: many parts, so that one more or less does not look like growth. */
const limit = { size: 60, unit: 'utf-16' } as const
const SIZE = 1_000
/** What the outlet and an adapter do with one answer. */
function deliver(text: string, renderer: MarkdownRenderer): readonly string[] {
  return splitText({ text }, limit, renderer).map((part) => renderer.render(readMarkdown(part)).text)
}

// Each meets one run in three: every pattern is tried by test/house/linear-patterns.test.ts, and every run by `npm run test:all`.
for (const [at, [platform, renderer]] of RENDERERS.entries())
  describeRenderer(platform, renderer, (nth) => SCOPE === 'all' || (at + nth) % 3 === 0)

it('[I14.attack-markdown] every renderer of a platform is attacked here', () => {
  expect(Object.keys(OPTIONS).toSorted()).toEqual(Object.keys(PLATFORMS).toSorted())
  const platforms = RENDERERS.map(([platform]) => platform)
  expect(platforms).toEqual(
    expect.arrayContaining(['telegram', 'slack', 'discord', 'email', 'whatsapp', 'imessage']),
  )
})

const each = RENDERERS.map(([platform, renderer], nth) => [platform, renderer, nth] as const)
describe.each(each)('[I14.attack-markdown] cut, read and rendered by %s', (platform, renderer, nth) => {
  it('whatever it is: every part is short, and markup that the platform takes', () => {
    const parts = Object.entries(HOSTILE_TEXTS).flatMap(([name, text]) =>
      splitText({ text: text(SIZE / 2) }, limit, renderer).map((part) => ({ name, part })),
    )
    expect(parts.length).toBeGreaterThan(500)
    for (const { name, part } of parts) {
      const { text: html, plain, counted = html } = renderer.render(readMarkdown(part))
      expect([name, counted.length <= limit.size, plain.length <= limit.size]).toEqual([name, true, true])
      expect([name, isTaken(platform, html)]).toEqual([name, true])
    }
  })

  // The reader and the splitter meet all families in their own test: here each renderer meets one in five, dealt out so that
  // together they meet most of them, and with `npm run test:all` twice as many.
  const isDealt = (at: number) => (at + nth) % 5 === 2 && (SCOPE === 'all' || at % 2 === 0)
  it.each(Object.entries(HOSTILE_TEXTS).filter((_, at) => isDealt(at)))('%s', async (_name, text) => {
    const growth = await growthOf((size) => {
      const input = text(size)
      return () => void deliver(input, renderer)
    }, SIZE)
    expect(growth).toBeLessThan(LINEAR)
  })
})

/** Addresses that must be no link, as text and behind a label. */
const ADDRESSES = [
  ...['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'java\tscript:alert(1)', 'java&#10;script:alert(1)'],
  ...[
    '&#106;avascript:alert(1)',
    '&#x6A;avascript:alert(1)',
    ' javascript:alert(1)',
    '\u0001javascript:alert(1)',
  ],
  ...[
    'javascript&colon;alert(1)',
    'vbscript:msgbox(1)',
    'data:text/html,<script>alert(1)</script>',
    'data:,x',
  ],
  ...[
    'file:///etc/passwd',
    'tg://resolve?domain=x',
    'tg://user?id=1',
    'blob:https://a.b/c',
    'about:blank',
    '//a.b',
  ],
  ...[
    '/etc/passwd',
    '../x',
    '#x',
    'intent://x',
    'ftp://a.b',
    'jAvAsCrIpT\\:alert(1)',
    'javascript://a.b/%0aalert(1)',
  ],
]
const TAGS = [
  ...[
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<b onclick=x>y</b>',
    '<svg/onload=alert(1)>',
  ],
  ...[
    '<a href="javascript:alert(1)">x</a>',
    '<iframe src=//a.b>',
    '</pre></code><script>',
    '<tg-spoiler>x</tg-spoiler>',
  ],
  ...[
    '<!--',
    '-->',
    '<![CDATA[x]]>',
    '<?php x ?>',
    '<style>*{}</style>',
    '"><script>',
    "' onmouseover='x",
    '<b',
    '&lt;b&gt;',
  ],
]
const WRAPPED: readonly ((address: string) => string)[] = [
  (a) => `[x](${a})`,
  (a) => `[x](<${a}>)`,
  (a) => `![x](${a})`,
  (a) => `<${a}>`,
  (a) => `[x][r]\n\n[r]: ${a}`,
  (a) => `[x][r]\n\n[r]: <${a}> "t"`,
  (a) => `[![x](${a})](${a} "t")`,
  (a) => `> - [x](${a})\n\n|a|\n|-|\n|[x](${a})|`,
]
const PLACES: readonly ((tag: string) => string)[] = [
  (t) => t,
  (t) => `**${t}**`,
  (t) => `\`${t}\``,
  (t) => `\`\`\`${t}\n${t}\n\`\`\``,
  (t) => `# ${t}\n\n> ${t}\n\n- ${t}\n`,
  (t) => `|${t}|\n|-|\n|${t}|`,
  (t) => `[${t}](https://a.b/?${t} "${t}")`,
  (t) => `![${t}](https://a.b/"${t})`,
]

function hrefs(nodes: readonly (MarkdownBlock | MarkdownInline)[]): readonly string[] {
  const found: string[] = []
  JSON.stringify(nodes, (key, value) => {
    if (key === 'href') found.push(String(value))
    return value
  })
  return found
}

it('[I14.attack-markdown] no address but of the web and of mail becomes a link, in no form', () => {
  for (const address of ADDRESSES) {
    for (const wrap of WRAPPED) {
      const text = wrap(address)
      const tree = readMarkdown(text)
      for (const href of hrefs(tree))
        expect([text, href]).toEqual([text, expect.stringMatching(/^(https?|mailto):/)])
      const again = readMarkdown(writeMarkdown(tree, { strict: true }))
      for (const href of hrefs(again))
        expect([text, href]).toEqual([text, expect.stringMatching(/^(https?|mailto):/)])
      const html = telegramMarkdown.render(tree).text
      expect([text, html]).toEqual([text, expect.not.stringMatching(/href="(?!https?:|mailto:)/)])
    }
  }
})

it('[I14.attack-markdown] no tag of a text becomes a tag of a platform, and none of its text is lost', () => {
  const ours =
    /<\/?(?:b|i|s|u|pre|blockquote|code(?: class="language-[^"<>]*")?|a(?: href="(?:https?|mailto):[^"<>]*")?)>/g
  for (const tag of TAGS) {
    for (const place of PLACES) {
      const text = place(tag)
      const { text: html } = telegramMarkdown.render(readMarkdown(text))
      expect([text, html.replace(ours, '')]).toEqual([text, expect.not.stringMatching(/[<>]/)])
      expect([text, 'error' in readTelegramHtml(html)]).toEqual([text, false])
    }
    const letters = (of: string) => of.replace(/&[lg]t;|[^\p{L}\p{N}]+/gu, '')
    expect([tag, letters(plainText(readMarkdown(tag)))]).toEqual([tag, letters(tag)])
  }
})
