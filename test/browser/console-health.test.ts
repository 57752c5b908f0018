// What stands in the way of a message: `doctor` exits 1 and names it, `status` and the console show it by the same word.
import { expect, it } from 'vitest'
import type { HealthFinding } from '../../src/contract/index.ts'
import { askJson, switchboard } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import { consoleBrowser, createConsoleScenes, goTo, picture, settled } from './console-scene.ts'

const browser = consoleBrowser()
const begin = createConsoleScenes(browser)

it('[I35.a4] doctor, status and the console name the same problems by the same words', async () => {
  const at = await begin({
    config: (text) =>
      text.replace(
        'type: channel }',
        'type: llm, provider: anthropic, api_key: "file:telegram.token", model: m, base_url: "http://127.0.0.1:9" }',
      ),
  })
  // The pager refuses what it is sent: a failed send.
  await at.hook('pager', 'hello')
  const status = () => askJson<{ problems: readonly HealthFinding[] }>(at.data, 'status')
  const codes = ({ problems }: { problems: readonly HealthFinding[] }) => problems.map(({ code }) => code)
  await until('the failed send is named', async () => codes(await status()).includes('sends-undelivered'))
  const { problems } = await status()
  expect(codes({ problems })).toEqual(expect.arrayContaining(['agent-unbound', 'sends-undelivered']))

  const doctor = await switchboard(at.data, 'doctor')
  expect(doctor.code).toBe(1)
  for (const { text, remedy } of problems) {
    expect(doctor.stdout).toContain(text)
    expect(doctor.stdout).toContain(remedy)
  }
  const shown = await switchboard(at.data, 'status')
  for (const { word, text } of problems) expect(shown.stdout).toContain(`${word}: ${text}`)

  const { page } = await at.enter()
  await goTo(page, 'now')
  await settled(page)
  const needs = page.locator('.needs')
  await needs.getByText('unbound: agent coder is bound to nothing: nobody can reach it').waitFor()
  await needs.getByText('undelivered: 1 message could not be delivered').waitFor()
  await picture(page, 'console-health')
})
