// What an operator asks, answered from the console alone, from Now on by what can be seen and clicked: what came in via Slack
// today, why a channel is silent, who approved that, and what was lost and why.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createFakeSlack } from '../../src/testing/emulate.ts'
import { askLines } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import { consoleBrowser, createConsoleScenes, goTo, picture } from './console-scene.ts'

const browser = consoleBrowser()
const begin = createConsoleScenes(browser)

it('[I21.con-turns] [I21.con-gates] [I21.con-approvals] [I21.con-outbox] four questions are answered by a few clicks each', async () => {
  const slack = await createFakeSlack()
  const dora = slack.person()
  const at = await begin({
    prepare: async (data) => {
      writeFileSync(join(data, 'slack.bot'), slack.botToken, { mode: 0o600 })
      writeFileSync(join(data, 'slack.app'), slack.appToken, { mode: 0o600 })
    },
    config: (text) =>
      text
        .replace(
          'agents:',
          `  - id: sl
    platform: slack
    bot_token: "file:slack.bot"
    app_token: "file:slack.app"
    api_url: "${slack.apiUrl}"
    access: { dm: allowlist, allow_from: ["${dora.user.id}"] }
agents:`,
        )
        .replace(
          '      - { plugin: telegram',
          '      - { plugin: slack, instance: sl }\n      - { plugin: telegram',
        ),
  })
  at.scene.onEnd(() => slack.stop())
  const anna = await at.enter('anna')
  dora.says('where is the report?')
  const silent = slack.person({ id: 'U0EVE0001', name: 'eve', channel: 'C0TEAM001' })
  silent.says('<@U0BOT> is anybody there?')
  await at.hook('ci', 'deploy')
  await goTo(anna.page, 'approvals')
  await anna.page.getByRole('button', { name: /Allow/ }).click()
  await at.hook('pager', 'page the doctor')
  const turns = () => askLines<{ source: string; state: string }>(at.data, 'turns')
  await until('all of it came', async () => {
    const rows = await turns()
    return (
      rows.filter((one) => one.source === 'slack:sl').length >= 2 &&
      rows.every((one) => one.state !== 'queued')
    )
  })

  const { page, complaints } = await at.enter()
  const nav = (name: string) =>
    page
      .locator('.side')
      .getByRole('link', { name: new RegExp(`^${name}`) })
      .click()
  // What came in via Slack today?
  await nav('Turn log')
  await page.getByLabel('Source').selectOption('slack:sl')
  await page.locator('.row', { hasText: 'where is the report?' }).getByText('answered').waitFor()
  // Of whom nobody let in the words are not kept, and it is told that they came.
  const refused = page.locator('.row', { hasText: 'eve' }).or(page.locator('.row', { hasText: 'U0EVE0001' }))
  await refused.first().getByText('refused').waitFor()
  expect(await page.locator('.row', { hasText: 'deploy' }).count()).toBe(0)
  await picture(page, 'question-slack')
  // Why is this channel silent?
  await refused.first().click()
  await page.getByText('The group is not in access.groups').waitFor()
  await page.getByText('C0TEAM001').first().waitFor()
  await page.locator('main').getByRole('link', { name: 'slack:sl' }).click()
  await page.getByText('Refused messages').waitFor()
  await picture(page, 'question-silent')
  await page
    .locator('.lines')
    .getByRole('link', { name: /access/ })
    .first()
    .click()
  await page.getByText('Looking for').waitFor()
  await picture(page, 'question-key')
  // Who approved that?
  await nav('Approvals')
  await page.locator('.row', { hasText: 'Deploy' }).getByText('user:anna').waitFor()
  await picture(page, 'question-approved')
  // What was lost, and why?
  await nav('Now')
  await page.getByText('1 message could not be delivered').click()
  await page.locator('.row', { hasText: 'You said: page the doctor' }).locator('.row-words').click()
  await page.getByText(/400/).first().waitFor()
  await picture(page, 'question-lost')
  expect([complaints, anna.complaints]).toEqual([[], []])
})
