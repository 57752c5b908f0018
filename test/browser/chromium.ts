// Starts a real Chromium for the browser tests, each time with a fresh profile; says what is missing where there is none.
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

// The first is the same without windows, and the quickest.
const PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const NO_CHROMIUM =
  'no Chromium here: apt-get install -y --no-install-recommends chromium-headless-shell'

/** The one that scripts/test.mjs found, or CHROMIUM names; null when none is installed. */
export async function openChromium(): Promise<Browser | null> {
  const executablePath = process.env.CHROMIUM ?? PATHS.find((path) => existsSync(path))
  return executablePath === undefined ? null : chromium.launch({ executablePath, args: ARGS })
}

export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  /** What the page complained about, refused loads and broken policies included. */
  readonly complaints: string[]
}

/** Throws where there is no browser: whoever comes here has not skipped. */
export async function visit(
  browser: Browser | null,
  options: { readonly width?: number; readonly height?: number; readonly dark?: boolean } = {},
): Promise<Visitor> {
  if (browser === null) throw new Error(NO_CHROMIUM)
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1_000, height: options.height ?? 800 },
    colorScheme: options.dark === true ? 'dark' : 'light',
  })
  const page = await context.newPage()
  // It ends a hang and measures nothing; the page's own pause before it connects again comes to ten seconds.
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    // A dropped connection, and a gateway that is just starting, are told as errors too; those are what the tests do on purpose.
    if (message.type() === 'error' && !/net::ERR_|status of (4\d\d|503)/.test(message.text())) {
      complaints.push(message.text())
    }
  })
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog opened: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return { context, page, complaints }
}

export async function send(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: /^Message/ }).fill(text)
  await page.keyboard.press('Enter')
}

/** The words under the own message with this text. */
export function deliveryUnder(page: Page, text: string) {
  return page.locator('.message.own', { hasText: text }).last().locator('.delivery')
}
