// Sends to Slack: form, targets, refusals, files, and the true outcome after a lost answer.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { mrkdwn, readMarkdown } from '../../kit/markdown/index.ts'
import { type Scene, until, withScene } from './fixtures/slack-scene.ts'

const rendered = (text: string) => mrkdwn.render(readMarkdown(text)).text
const GENERAL = 'C0GENERAL'

const posts = ({ fake }: Scene) =>
  fake.world.calls.filter(({ method }) => method === 'chat.postMessage').map(({ params }) => params)

describe('mrkdwn', () => {
  it.each([
    ['**bold** and *bold* and _italic_ and ~~gone~~', '*bold* and *bold* and _italic_ and ~gone~'],
    ['[the page](https://a.b/c?d=e&f=g)', '<https://a.b/c?d=e&amp;f=g|the page>'],
    ['see <https://a.b/c|the page> now', 'see <https://a.b/c|the page> now'],
    ['a < b & c > d', 'a &lt; b &amp; c &gt; d'],
    ['# Title\n\ntext', '*Title*\n\ntext'],
    ['- one\n- two', '• one\n• two'],
    ['> said', '> said'],
    ['`a<b`', '`a&lt;b`'],
    ['```js\nlet a = 1 < 2\n```', '```\nlet a = 1 &lt; 2\n```'],
    ['[x](javascript:alert(1))', '[x](javascript:alert(1))'],
  ])('[S7.slack-mrkdwn] [I15.mrkdwn-out] %j is %j', (text, expected) => {
    expect(rendered(text)).toBe(expected)
  })

  it('[S7.slack-no-ping] [I15.no-ping] nothing that is written can ping, wherever it stands', async () => {
    const pings = [
      '<!channel>',
      '<!here>',
      '<!everyone>',
      '<!subteam^S123>',
      '<@U0KATE001>',
      '<!date^1^{date}|x>',
    ]
    const forms = [
      (ping: string) => ping,
      (ping: string) => `\`${ping}\``,
      (ping: string) => `\`\`\`\n${ping}\n\`\`\``,
      (ping: string) => `**${ping}**`,
      (ping: string) => `[${ping}](https://a.b)`,
      (ping: string) => `<https://a.b|${ping}>`,
      (ping: string) => `# ${ping}\n\n| a |\n|---|\n| ${ping} @channel |`,
    ]
    await withScene(async (scene) => {
      for (const form of forms)
        await scene.send(GENERAL, { kind: 'text', text: pings.map(form).join('\n\n') })
      await scene.send(GENERAL, { kind: 'text', text: pings.join(' '), plain: true })
      await scene.send(GENERAL, { kind: 'text', text: 'x', choices: [{ label: '<!channel>', value: 'v' }] })
      expect(posts(scene)).toHaveLength(forms.length + 2)
      for (const { text, blocks } of posts(scene)) {
        expect(String(text)).not.toMatch(/<[!@#]/)
        const shown = JSON.stringify(blocks ?? []).replaceAll('"text":"<!channel>","emoji":true', '')
        expect(shown).not.toMatch(/<[!@#]|@(channel|here|everyone)/)
      }
    })
  })

  it('[I15.mrkdwn-out] tables go as a markdown block with the text beside it', async () => {
    const table = '| a | b |\n|---|---|\n| 1 | 2 |'
    await withScene(async (scene) => {
      await scene.send(GENERAL, { kind: 'text', text: table })
      expect(posts(scene)[0]).toMatchObject({
        blocks: [{ type: 'markdown', text: table }],
        text: expect.stringContaining('```'),
      })
    })
  })
})

describe('targets and refusals', () => {
  it('[S7.slack-targets] [I15.targets] C and D as they are, U opens the direct chat, a name is refused with a hint', async () => {
    await withScene(async (scene) => {
      const kate = scene.fake.person()
      expect(await scene.send(GENERAL, { kind: 'text', text: 'a' })).not.toHaveProperty('conversation')
      await scene.send(kate.channel.id, { kind: 'text', text: 'b' })
      const { conversation } = await scene.send(kate.user.id, { kind: 'text', text: 'c' })
      expect(conversation).toBe(kate.channel.id)
      expect(kate.sees()).toEqual(['b', 'c'])
      await expect(scene.send('#general', { kind: 'text', text: 'd' })).rejects.toMatchObject({
        code: 'platform_rejected',
        hint: expect.stringContaining('C…'),
      })
    })
  })

  it('[I15.error-map] Slack’s errors stand first, with what to do', async () => {
    await withScene(async (scene) => {
      const { world } = scene.fake
      world.addChannel({ id: 'C0ELSE001' }, [])
      world.addChannel({ id: 'C0OLD0001' }).archived = true
      const refused = async (to: string) =>
        scene.send(to, { kind: 'text', text: 'x' }).catch((error: unknown) => error)
      expect(await refused('C0ELSE001')).toMatchObject({
        code: 'platform_rejected',
        message: expect.stringMatching(/^not_in_channel: .*invite/),
      })
      expect(await refused('C0NOWHERE')).toMatchObject({
        message: expect.stringMatching(/^channel_not_found/),
      })
      expect(await refused('C0OLD0001')).toMatchObject({ message: expect.stringMatching(/^is_archived/) })
      scene.fake.refuseTokens('account_inactive')
      expect(await refused(GENERAL)).toMatchObject({
        code: 'platform_unavailable',
        message: expect.stringMatching(/^account_inactive/),
      })
    })
    await withScene(
      async (scene) => {
        const thrown: unknown = await scene
          .send(GENERAL, { kind: 'react', on: '1.000001', emoji: '👀' })
          .catch((error: unknown) => error)
        expect(thrown).toMatchObject({
          code: 'platform_rejected',
          message: 'missing_scope: the bot needs reactions:write',
        })
      },
      { scopes: ['chat:write'] },
    )
  })

  it('[I15.retry-after] ratelimited says how long, and only that channel waits', async () => {
    await withScene(
      async (scene) => {
        await expect(scene.send(GENERAL, { kind: 'text', text: 'x' })).rejects.toMatchObject({
          code: 'rate_limited',
          retryAfterMs: 7_000,
        })
        const kate = scene.fake.person()
        await scene.send(kate.channel.id, { kind: 'text', text: 'y' })
        expect(kate.sees()).toEqual(['y'])
      },
      { faults: [{ on: 'chat.postMessage', nth: 1, do: 'rate-limit', retryAfter: 7 }] },
    )
  })

  it('[S7.slack-limit] a text over the limit is refused whole, and each block is within Slack’s', async () => {
    await withScene(async (scene) => {
      expect(scene.adapter.abilities.textLimit).toEqual({ size: 4_000, unit: 'utf-16' })
      await expect(scene.send(GENERAL, { kind: 'text', text: 'x'.repeat(4_001) })).rejects.toMatchObject({
        message: expect.stringMatching(/^msg_too_long/),
      })
      const text = `${'word & '.repeat(300)}`
      await scene.send(GENERAL, {
        kind: 'prompt',
        approval: 'abcde',
        text,
        choices: [{ label: 'Allow', value: 'yes:abcde' }],
      })
      const sections = (posts(scene).at(-1)?.blocks ?? []) as { text?: { text?: string } }[]
      expect(sections.length).toBe(3)
      for (const { text: shown } of sections) expect((shown?.text ?? '').length).toBeLessThanOrEqual(3_000)
    })
  })
})

describe('ops', () => {
  it('[I15.prompt-blocks] [S7.slack-threads] prompts have buttons in blocks and lose them when they are changed', async () => {
    await withScene(async (scene) => {
      const kate = scene.fake.person()
      const choices = [
        { label: 'Allow', value: 'yes:abcde' },
        { label: 'Deny', value: 'no:abcde' },
      ]
      const { platformIds } = await scene.send(kate.channel.id, {
        kind: 'prompt',
        approval: 'abcde',
        text: 'Run `ls`?',
        choices,
      })
      const [ts = ''] = platformIds
      expect(posts(scene)[0]?.blocks).toMatchObject([
        { type: 'section' },
        {
          type: 'actions',
          elements: [
            { style: 'primary', value: 'yes:abcde' },
            { style: 'danger', value: 'no:abcde' },
          ],
        },
      ])
      await scene.send(kate.channel.id, { kind: 'edit', on: ts, text: 'allowed by kate' })
      expect(kate.sees()).toEqual(['allowed by kate'])
      expect(() => kate.taps('Allow')).toThrow('no button')
    })
  })

  it('[I15.upload] threads, reactions (twice is fine), urgency by colour, and a file by the upload flow', async () => {
    await withScene(async (scene) => {
      const kate = scene.fake.person({ channel: GENERAL })
      const { ts } = kate.says('hi')
      await scene.send(GENERAL, { kind: 'text', text: 'in the thread', urgency: 'high' }, { thread: ts })
      expect(posts(scene)[0]).toMatchObject({ thread_ts: ts, attachments: [{ color: '#e01e5a' }] })
      for (let twice = 0; twice < 2; twice++)
        await scene.send(GENERAL, { kind: 'react', on: ts, emoji: '👀' })
      expect(scene.fake.world.find(GENERAL, ts)?.reactions).toEqual([{ name: 'eyes', users: ['U0SWBBOT1'] }])
      await expect(scene.send(GENERAL, { kind: 'react', on: ts, emoji: '🦄🦄' })).rejects.toMatchObject({
        code: 'platform_rejected',
      })
      const ref =
        (await scene.adapter.files?.keep?.({
          name: 'a.txt',
          mime: 'text/plain',
          bytes: Buffer.from('abc'),
        })) ?? ''
      await scene.send(
        GENERAL,
        { kind: 'file', name: 'a.txt', mime: 'text/plain', ref, caption: 'see' },
        { thread: ts },
      )
      expect(scene.fake.world.messages(GENERAL).at(-1)).toMatchObject({
        text: 'see',
        thread_ts: ts,
        files: [{ name: 'a.txt' }],
      })
    })
  })

  it('[I15.files-in] the token goes nowhere but to Slack, files are capped, and a sign-in page is no file', async () => {
    await withScene(async (scene) => {
      await scene.start()
      const kate = scene.fake.person()
      kate.sendsFile({ name: 'a.txt', content: 'the content', text: 'see' })
      const got = await until('the file', () => scene.intake.events[0])
      const attachment = got.kind === 'message' ? got.attachments?.[0] : undefined
      if (!attachment) throw new Error('no attachment')
      expect(await scene.adapter.files?.download?.(attachment)).toMatchObject({ name: 'a.txt', size: 11 })
      await expect(
        scene.adapter.files?.download?.({ ...attachment, ref: 'F1 https://evil.example/x' }),
      ).rejects.toThrow('outside of Slack')
      await expect(scene.adapter.files?.download?.({ ...attachment, size: 10 ** 9 })).rejects.toMatchObject({
        code: 'too_large',
      })
    })
    await withScene(
      async (scene) => {
        await scene.start()
        scene.fake.person().sendsFile({ name: 'a.txt' })
        const got = await until('the file', () => scene.intake.events[0])
        const attachment = got.kind === 'message' ? got.attachments?.[0] : undefined
        if (!attachment) throw new Error('no attachment')
        await expect(scene.adapter.files?.download?.(attachment)).rejects.toMatchObject({
          hint: expect.stringContaining('files:read'),
        })
      },
      { scopes: ['chat:write', 'im:history'] },
    )
  })

  it('[I15.files-in] no token follows a redirect, not even to the same host', async () => {
    const asked: (string | undefined)[] = []
    const elsewhere = createServer((request, response) => {
      asked.push(request.headers.authorization)
      response.end('bytes')
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    await withScene(async (scene) => {
      await scene.start()
      const kate = scene.fake.person()
      const redirect = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/x`
      kate.sendsFile({ name: 'a.pdf', mime: 'application/pdf', redirect })
      const got = await until('the file', () => scene.intake.events[0])
      const attachment = got.kind === 'message' ? got.attachments?.[0] : undefined
      if (!attachment) throw new Error('no attachment')
      expect(await scene.adapter.files?.download?.(attachment)).toMatchObject({ size: 5 })
      expect(asked).toEqual([undefined])
    })
    elsewhere.close()
  })

  it('[I15.thread-status] [I15.agent-view] work is the status of its thread until it ends; an opened surface gets prompts, and what one looks at is context', async () => {
    const options = { suggested_prompts: [{ title: 'Hi', message: 'hello' }], surface: 'assistant' }
    await withScene(
      async (scene) => {
        await scene.start()
        const kate = scene.fake.person()
        const channel_id = kate.channel.id
        const { ts } = kate.says('start')
        const context = { channel_id: 'C0LOOK001' }
        scene.fake.push({
          type: 'assistant_thread_started',
          assistant_thread: { user_id: kate.user.id, channel_id, thread_ts: ts, context },
        })
        await until('prompts', () => scene.fake.world.prompts.length === 1)
        kate.says('what is this?', { thread: ts })
        const got = await until('the message', () =>
          scene.intake.events.find((event) => event.kind === 'message' && event.text === 'what is this?'),
        )
        expect(got).toMatchObject({ meta: { context: 'C0LOOK001' } })
        await until('a title', () => scene.fake.world.titles.get(`${channel_id}/${ts}`) === 'what is this?')
        const to = { integration: 'sl', conversation: channel_id, thread: ts }
        scene.adapter.signal?.(to, { kind: 'typing', on: true })
        scene.adapter.signal?.(to, { kind: 'status', turn: 't', text: 'reads the plan' })
        await until('the status', () =>
          scene.fake.world.statuses.some(({ status }) => status === 'reads the plan'),
        )
        scene.adapter.signal?.(to, { kind: 'typing', on: false })
        await until('it ends', () => scene.fake.world.statuses.at(-1)?.status === '')
      },
      { options },
    )
  })

  it('[I15.show-all-file] a long text goes whole as a snippet; without the scope its beginning is said, and where the rest is', async () => {
    const text = `${'0123456789 '.repeat(1_500)}end`
    const op = {
      kind: 'text',
      text,
      plain: true,
      asFile: {
        name: 'approval-abcde.txt',
        caption: 'Bash (abcde): also by switchboard approvals show abcde',
      },
    } as const
    await withScene(async (scene) => {
      const kate = scene.fake.person()
      await scene.send(kate.user.id, op, { cause: 'notice' })
      const [message] = scene.fake.world.messages(kate.channel.id)
      const [file] = (message?.files ?? []) as { id: string; name: string }[]
      expect(message?.text).toBe(op.asFile.caption)
      expect(file?.name).toBe('approval-abcde.txt')
      expect(scene.fake.world.files.get(file?.id ?? '')?.bytes.toString('utf8')).toBe(text)
      const asked = scene.fake.world.calls.find(({ method }) => method === 'files.getUploadURLExternal')
      expect(asked?.params).toMatchObject({ snippet_type: 'text' })
    })
    await withScene(
      async (scene) => {
        await scene.send(GENERAL, op, { cause: 'notice' })
        const [message] = scene.fake.world.messages(GENERAL)
        expect(message?.text).toMatch(/^Bash \(abcde\): also by .*abcde\n\n0123/)
        expect(message?.text).toMatch(/…$/)
        expect(message?.text.length).toBeLessThanOrEqual(4_000)
      },
      { scopes: ['chat:write'] },
    )
  })

  it('[I15.blocks-refused] blocks that Slack refuses are sent as text, once, and buttons stay', async () => {
    await withScene(async (scene) => {
      const headings = Array.from({ length: 60 }, (_, at) => `# h${at}`).join('\n\n')
      await scene.send(GENERAL, { kind: 'text', text: headings })
      expect(posts(scene).map(({ blocks }) => blocks !== undefined)).toEqual([true, false])
      expect(scene.fake.world.messages(GENERAL)).toMatchObject([{ text: expect.stringMatching(/^\*h0\*/) }])
      const choices = [{ label: 'Reply', value: 'claim:reply' }]
      await scene.send(GENERAL, { kind: 'text', text: headings, choices })
      expect(posts(scene).at(-1)).toMatchObject({ blocks: [{ type: 'actions' }] })
      expect(scene.fake.world.messages(GENERAL)).toHaveLength(2)
    })
  })
})
