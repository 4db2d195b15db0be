// trust: whether what the current folder's .ikigai brings may be used. It came with somebody's repository, so the
// user says yes to it once, as it is; the yes is kept with where it is and a digest of all of it. Asks nobody and
// prints nothing: that is consent.
#pragma once

#include "agent/registry.h"
#include "base/snapshot.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ik {

class ProjectTrust {
public:
    enum class Standing {
        absent,     // no tools and no settings; or the folder is the user's own ~/.ikigai
        refused,    // nobody can trust it: others can change it, it is too large, it cannot be read
        unknown,    // never trusted
        changed,    // trusted once, but it was different then
        trusted,    // as it is, or for this run
    };

    // The one of the current folder. for_this_run: --trust was given, which is as good as a yes.
    static ProjectTrust here(bool for_this_run = false);

    Standing standing() const { return standing_; }
    bool trusted() const { return standing_ == Standing::trusted; }
    bool can_be_asked() const { return standing_ == Standing::unknown || standing_ == Standing::changed; }
    const std::string& folder() const { return folder_; }    // without links; empty where it is absent
    const std::string& why() const { return why_; }          // it is refused, or the list of trusted folders not used
    const std::optional<Snapshot>& snapshot() const { return snapshot_; }

    // Says yes for this run, and with remember() for those to come: to what the snapshot holds, not to what may be
    // there by now. Error: of the list of trusted folders; the yes for this run stays.
    void trust() { standing_ = Standing::trusted; }
    Status remember() const;

    // Takes the yes back where something has changed since; then line() says so. True where it was taken back.
    bool withdraw_if_changed();

    // One sentence where something is there and not used; otherwise empty.
    std::string line() const;

    // To be asked before each start of one of its tools: why it may not be started. Costs a stat(2) for each file,
    // and reads them again when one has changed. Between this and the exec there is a moment that is not covered.
    std::optional<std::string> objection();
    std::optional<std::string> objection(const Tool& tool) { return tool.origin == "project" ? objection() : std::nullopt; }

private:
    Standing standing_ = Standing::absent;
    std::string folder_, why_, parts_;   // parts: what there is, in words
    std::optional<Snapshot> snapshot_;
};

// The list of trusted folders: ~/.config/ikigai/trusted.json. Many processes may change it at once; a broken one is
// an error and stays as it is.
struct TrustedFolder { std::string digest, since; };
using TrustedFolders = std::map<std::string, TrustedFolder>;
Result<TrustedFolders> trusted_folders();
Status trust_folder(const std::string& folder, const std::string& digest);
Result<bool> forget_folder(const std::string& folder);   // false: it was not in the list

}
