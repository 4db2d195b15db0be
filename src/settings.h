// Settings: what there is to set, and what is set: defaults, then files, the environment and the
// command line; what comes later wins. Each value knows where it came from. Holds no key.
#pragma once

#include "base/config.h"

namespace ik {

enum class Layer { standard, system, user, project, environment, option };

// What a project's own file may do with a setting: a stranger may have written it.
enum class Project { never, less, free };

struct SettingRow {
    ConfigKey key;
    std::string_view standard;   // as JSON
    Project project;
    std::string_view help;
    bool adds = false;           // a list: those of later files are added to it

    std::string variable() const;   // IKIGAI_ and the name in capitals; empty where there is none
};
std::span<const SettingRow> setting_rows();

struct Setting {
    const SettingRow* row;
    Json value;
    Layer layer = Layer::standard;
    std::string origin = "default";                    // a file and a line, a variable, an option
    std::map<std::string, std::string> origins = {};   // of the members of an object
};

struct Settings {
    std::vector<Setting> all;              // in the order of the table
    std::vector<std::string> warnings;     // sentences; what they speak of is ignored
    std::vector<std::string> files;        // those that were used

    const Setting& operator[](std::string_view name) const;
    Setting& at(std::string_view name);
    std::string text(std::string_view name) const;
    double number(std::string_view name) const;
    bool claim(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;

    // The same, but nothing where a later layer names another provider than this value was written for.
    std::string for_provider(std::string_view name) const;

    // An object's members are added to those that are there, as are the texts of a list that adds.
    void set(std::string_view name, Json value, Layer layer, std::string origin);
};

struct SettingSources {
    std::string root = {};              // in front of /etc
    bool trust = false;                 // ./.ikigai/config.json counts
    std::string untrusted = {};         // else the sentence that says so, where there is one
    bool files_only = false;            // neither the environment nor options
    struct Option { std::string name, text, origin; };
    std::vector<Option> options = {};   // of the command line
};
Settings read_settings(const SettingSources&);

// The members of a declared provider, of a price and of a tool.
std::span<const ConfigKey> provider_keys();
std::span<const ConfigKey> price_keys();
std::span<const ConfigKey> tool_keys();

}
