// The real Claude Code, started by a real daemon and talked to from Telegram's emulator, against a model of ours on loopback. Opt-in:
// the binary is proprietary and not ours to bring along.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import { asTheDouble } from '../../src/agents/claude-code/fixtures/raw-conversation.ts'
import { createFakeTelegram } from '../../src/testing/emulate.ts'
import { createFakeLlm } from '../../src/testing/llm/fake-llm.ts'
import { expectLedgerHolds, settled, turnsOf } from './river-checks.ts'
import { askJson, createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const KATE = '412587349'
const QUESTION = {
  questions: [
    {
      ...{ question: 'Which colour?', header: 'Colour', multiSelect: false },
      options: [
        { label: 'Red', description: 'warm' },
        { label: 'Blue', description: 'cold' },
      ],
    },
  ],
}

it('[I22.cc-real] from Telegram: an answer, reply by our tools, an approval, a question by its button, a stop, kill -9 in mid-tool', async (context) => {
  const command = process.env.SWITCHBOARD_CLAUDE_BIN
  if (!command) context.skip('SWITCHBOARD_CLAUDE_BIN names no Claude Code binary (proprietary, opt-in)')
  const telegram = await createFakeTelegram()
  scene.onEnd(() => telegram.stop())
  const model = await createFakeLlm({ script: asTheDouble }).listen()
  scene.onEnd(() => model.close())
  const data = scene.folder()
  const work = join(data, 'work')
  mkdirSync(work)
  writeFileSync(join(data, 'telegram.token'), telegram.token, { mode: 0o600 })
  const env = {
    ...{ HOME: data, PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', DISABLE_AUTOUPDATER: '1' },
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ANTHROPIC_BASE_URL: model.url },
    ANTHROPIC_API_KEY: 'sk-ant-dummy-loopback-key',
  }
  const tg = { id: 'tg', platform: 'telegram', token: 'file:telegram.token', api_root: telegram.url }
  const access = { dm: 'allowlist', allow_from: [KATE], approvers: [KATE] }
  const connector = { type: 'claude-code', command, cwd: work, env }
  const bound = [{ plugin: 'telegram', instance: 'tg' }]
  const config = join(data, 'switchboard.yaml')
  writeFileSync(
    config,
    stringify({
      integrations: [{ ...tg, mode: 'polling', access }],
      agents: [{ id: 'claude', connector, inbound_bindings: bound }],
    }),
  )
  let daemon = await scene.start({ data, config })
  const kate = telegram.person()
  const sees = (part: string) =>
    until(`Kate sees ${part}`, () => kate.sees().some((text) => text.includes(part)), 120_000)
  const asked = () => kate.sees().flatMap((text) => /yes ([a-km-z]{5})/.exec(text)?.[1] ?? [])
  const call = (tool: string, input: object) => kate.says(`call ${tool} ${JSON.stringify(input)}`)

  kate.says('hello')
  await sees('You said: hello')
  call('mcp__switchboard__reply', { chat_id: `tg:${KATE}`, text: 'said by the tool' })
  await sees('said by the tool')
  await settled(data)
  expect(kate.sees().filter((text) => text.includes('The tool said'))).toEqual([])

  call('Bash', { command: 'touch made && echo ran', description: 'Make a file' })
  const first = await until('it asks', () => asked()[0])
  expect(existsSync(join(work, 'made'))).toBe(false)
  kate.says(`yes ${first}`)
  await sees('The tool said: ran')

  call('AskUserQuestion', QUESTION)
  await sees('Which colour?')
  kate.taps('2. Blue')
  await sees('"Which colour?"="Blue"')

  kate.says('slow 60000 a text that is stopped long before it is whole')
  await sees('a text')
  kate.says('/stop')
  await sees('topped')

  call('Bash', { command: 'touch begun; sleep 60; touch finished', description: 'Wait' })
  const second = await until('it asks again', () => asked().find((id) => id !== first))
  kate.says(`yes ${second}`)
  await until('the tool runs', () => existsSync(join(work, 'begun')))
  const { agents } = await askJson<{ agents: { processes?: { pid: number }[] }[] }>(data, 'doctor')
  const pid = agents[0]?.processes?.[0]?.pid ?? 0
  expect(pid).toBeGreaterThan(0)
  await daemon.kill9()
  await until('the watcher ended it', () => !isAlive(pid))
  daemon = await scene.start({ data, config })
  await sees('was interrupted')
  await settled(data)
  expect(existsSync(join(work, 'finished'))).toBe(false)
  expect((await turnsOf(data)).filter(({ state }) => ['queued', 'handed', 'seen'].includes(state))).toEqual(
    [],
  )
  await expectLedgerHolds(data)
  await daemon.terminate()
  expect(readdirSync(join(data, 'processes'))).toEqual([])
}, 400_000)

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}
