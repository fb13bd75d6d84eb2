-- Opens a draft, waits for a diagnostic, cites the first paper from the library, saves all files and quits.
-- Where another language server is named, it works on the same buffer: its diagnostic is waited for as well.
local beside = vim.env.WHYCITE_BESIDE and vim.split(vim.env.WHYCITE_BESIDE, " ")
local server, draft, sentence = vim.env.WHYCITE_SERVER, vim.env.WHYCITE_DRAFT, vim.env.WHYCITE_SENTENCE

local function wait_for(what, condition)
  if not vim.wait(120000, condition, 50) then error("never came: " .. what) end
end

local function main()
  vim.o.hidden = true
  vim.cmd("edit " .. vim.fn.fnameescape(draft))
  vim.bo.filetype = "tex"
  local root = vim.fn.fnamemodify(draft, ":h")
  local configs = { { name = "whycite", cmd = { server, "lsp" }, root_dir = root } }
  if beside then
    table.insert(configs, { name = "beside", cmd = beside, root_dir = root })
  end
  for _, config in ipairs(configs) do
    if vim.lsp.start then
      vim.lsp.start(config)
    else -- before Neovim 0.8
      vim.lsp.buf_attach_client(0, vim.lsp.start_client(config))
    end
  end

  -- Papers come shortly after the sentence is marked.
  local marked
  wait_for("a diagnostic with papers", function()
    for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
      local line = vim.api.nvim_buf_get_lines(0, diagnostic.lnum, diagnostic.lnum + 1, false)[1]
      if line:sub(diagnostic.col + 1, diagnostic.end_col) == sentence and diagnostic.message:find("It could cite") then
        marked = diagnostic
      end
    end
    return marked ~= nil
  end)
  print("diagnostic: " .. marked.source .. ": " .. marked.message)
  local function wait_for_other(what)
    local other
    wait_for(what, function()
      for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
        if diagnostic.source ~= "whycite" then other = diagnostic end
      end
      return other ~= nil
    end)
    print(what .. ": " .. other.message)
  end
  if beside then wait_for_other("diagnostic of another server") end

  local titles, chosen = {}, nil
  vim.ui.select = function(items, options, choose)
    for _, item in ipairs(items) do
      local title = options.format_item(item)
      table.insert(titles, title)
      if not chosen and title:find("^Cite .*adds it to the bibliography") then chosen = item end
    end
    choose(chosen)
  end
  vim.api.nvim_win_set_cursor(0, { marked.lnum + 1, marked.col })
  vim.lsp.buf.code_action()
  wait_for("the citation", function()
    return vim.fn.search("\\\\cite{kaiser", "nw") > 0
  end)
  print("actions: " .. table.concat(titles, " | "))
  if beside then wait_for_other("diagnostic of another server after the citation") end

  -- The entry is in a buffer that was not open before; the server knows it only if it is told of such files.
  vim.cmd("wall")
end

local ok, message = xpcall(main, debug.traceback)
if not ok then
  print(message)
  vim.cmd("cquit 1")
end
vim.cmd("qall!")
