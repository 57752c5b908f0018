// Starts a real Chromium for the browser tests, each time with a fresh profile, or reports what is missing.
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

// The first is Chromium without windows, and the fastest.
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

/** Opens the Chromium that scripts/test.mjs found or CHROMIUM names. Returns null if none is installed. */
export async function openChromium(): Promise<Browser | null> {
  const executablePath = process.env.CHROMIUM ?? PATHS.find((path) => existsSync(path))
  return executablePath === undefined ? null : chromium.launch({ executablePath, args: ARGS })
}

export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  /** Errors that the page logged, refused loads and broken policies included. */
  readonly complaints: string[]
}

/** Opens a page. Throws without a browser, because such a test should have been skipped. */
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
  // The time-out ends a hang and measures nothing. The page itself may pause ten seconds before it connects again.
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    // Dropped connections and a starting gateway are logged as errors too. The tests cause those on purpose.
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

/** The words under the person's own message with this text. */
export function deliveryUnder(page: Page, text: string) {
  return page.locator('.message.own', { hasText: text }).last().locator('.delivery')
}
